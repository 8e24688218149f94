import type { Snapshot } from "./snapshot.ts";

/** What each setting must be, or a run proves nothing about durability. */
const required: Readonly<Record<string, readonly string[]>> = {
  fsync: ["on"],
  full_page_writes: ["on"],
  synchronous_commit: ["on", "remote_apply"],
};

const names = Object.keys(required);

/** Why the oracle refuses to judge, or undefined. Also what a role or a database sets for itself counts. */
export async function whyNotDurable(snapshot: Snapshot): Promise<string | undefined> {
  const settings = await snapshot.rows(
    `select name, setting from pg_settings where name = any($1::text[])
     union all
     select lower(split_part(one, '=', 1)), split_part(one, '=', 2)
     from pg_db_role_setting, unnest(setconfig) one
     where lower(split_part(one, '=', 1)) = any($1::text[])
       and setdatabase in (0, (select oid from pg_database where datname = current_database()))`,
    [`{${names.join()}}`],
  );
  const wrong = settings.filter(({ name, setting }) => !required[String(name)]?.includes(String(setting)));
  const missing = names.filter((name) => !settings.some((one) => one["name"] === name));
  const texts = [
    ...wrong.map(({ name, setting }) => `${name} is ${setting}`),
    ...missing.map((name) => `${name} cannot be read`),
  ];
  return texts.length === 0 ? undefined : `not durable: ${texts.join(", ")}`;
}
