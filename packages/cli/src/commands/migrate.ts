import { errorText, MillraceError } from "@millrace/base/errors";
import { listMigrations, migrate as migrateDatabase } from "@millrace/db/migrate";
import { defineCommand } from "../command-line/command.ts";
import { whereDatabase, whereFlags } from "../whereabouts.ts";

/** Brings a database to the newest schema. */
export const migrate = defineCommand({
  name: "migrate",
  about: [
    "Brings a database to the schema that this Millrace needs, in one transaction. `millrace up` does this by " +
      "itself; where processes are started in another way, run it before them. Running it again changes nothing.",
  ],
  flags: { databaseUrl: whereFlags.databaseUrl, dataDir: whereFlags.dataDir },
  examples: [
    {
      line: "millrace migrate --database-url postgres://millrace:secret@db/millrace",
      does: "Needs the right to create tables there.",
    },
  ],
  run: async ({ flags, terminal }) => {
    try {
      await migrateDatabase(whereDatabase(flags));
    } catch (cause) {
      if (cause instanceof MillraceError && cause.code === "not-running") throw cause;
      const message = `The database was left as it was: ${errorText(cause)}`;
      throw new MillraceError({ remedy: "crash", code: "migrate", message });
    }
    const migrations = await listMigrations();
    terminal.print(`The database is at ${migrations.at(-1)}.`);
    return 0;
  },
});
