import { createHash } from "node:crypto";
import type { Random } from "@millrace/base/random";
import { and, desc, eq, gt, isNull, or, sql } from "drizzle-orm";
import type { Database } from "./connect.ts";
import { apiKeys } from "./schema/api-keys.ts";
import { projects } from "./schema/projects.ts";

type Orm = Database["orm"];

/** What an API key may be used for. `admin` holds for its project only. */
export const keyScopes = ["ingest", "upload", "read", "admin"] as const;
export type KeyScope = (typeof keyScopes)[number];

/** A key as it is stored: without the key itself, which nobody can get back. */
export type ApiKeyRow = Omit<typeof apiKeys.$inferSelect, "keySha256">;

/** `text` is the key, `millrace_<id>_<secret>`: it is shown once and kept nowhere. */
export interface NewKey {
  readonly id: string;
  readonly text: string;
}

/** What a change of a key came to. */
export type KeyChange<T> = { readonly kind: "done"; readonly value: T } | { readonly kind: "no-such-key" };

export interface KeyOrder {
  readonly projectId: string;
  readonly name: string;
  readonly scopes: readonly KeyScope[];
  /** Undefined: it never expires. */
  readonly expiresInSeconds: number | undefined;
}

const idBytes = 6;
const secretBytes = 32;

/** `last_used_at` may lag by this much: a busy key then costs one write in that time, not one a look-up. */
const usedEverySeconds = 600;

const shown = {
  id: apiKeys.id,
  projectId: apiKeys.projectId,
  scopes: apiKeys.scopes,
  createdAt: apiKeys.createdAt,
  expiresAt: apiKeys.expiresAt,
  revokedAt: apiKeys.revokedAt,
  openStreamsMax: apiKeys.openStreamsMax,
  eventsPerSecondMax: apiKeys.eventsPerSecondMax,
  bytesPerSecondMax: apiKeys.bytesPerSecondMax,
  name: apiKeys.name,
  lastUsedAt: apiKeys.lastUsedAt,
  replacedBy: apiKeys.replacedBy,
};

/** SHA-256 of a key as it is sent: what is stored, and what travels. */
export function keyDigest(text: string): Uint8Array {
  return createHash("sha256").update(text, "utf8").digest();
}

/** Makes a key. Undefined: there is no such project. */
export async function createKey(orm: Orm, order: KeyOrder, random: Random): Promise<NewKey | undefined> {
  return orm.transaction(async (tx) => {
    const [project] = await tx
      .select({ id: projects.id })
      .from(projects)
      .where(eq(projects.id, order.projectId))
      .for("key share");
    if (project === undefined) return undefined;
    const key = drawKey(random);
    await tx.insert(apiKeys).values({
      id: key.id,
      keySha256: keyDigest(key.text),
      projectId: order.projectId,
      name: order.name,
      scopes: [...order.scopes],
      ...(order.expiresInSeconds !== undefined && { expiresAt: secondsFromNow(order.expiresInSeconds) }),
    });
    return key;
  });
}

/** Makes a project if there is none of that name; its slug is its id for ever. */
export async function ensureProject(orm: Orm, id: string): Promise<void> {
  await orm.insert(projects).values({ id, name: id }).onConflictDoNothing();
}

/** A key and whether it has expired, by the database's clock. */
export type ListedKey = ApiKeyRow & { readonly isExpired: boolean };

/** The newest first; undefined: those of all projects. */
export async function listKeys(orm: Orm, projectId: string | undefined): Promise<ListedKey[]> {
  return orm
    .select({ ...shown, isExpired: sql<boolean>`coalesce(${apiKeys.expiresAt} <= now(), false)` })
    .from(apiKeys)
    .where(projectId === undefined ? undefined : eq(apiKeys.projectId, projectId))
    .orderBy(desc(apiKeys.createdAt), apiKeys.id);
}

/**
 * Makes a key with the project, name, scopes, limits and expiry of another, which goes on for `graceSeconds` at most.
 * One that is revoked, expired or replaced already is no such key: a rotation repeated by mistake must not leave a
 * second new key that nobody looks after.
 */
export async function rotateKey(
  orm: Orm,
  of: { id: string; graceSeconds: number },
  random: Random,
): Promise<KeyChange<NewKey>> {
  return orm.transaction(async (tx) => {
    const [old] = await tx
      .select()
      .from(apiKeys)
      .where(and(eq(apiKeys.id, of.id), isValid(), isNull(apiKeys.replacedBy)))
      .for("update");
    if (old === undefined) return { kind: "no-such-key" };
    const key = drawKey(random);
    const { id: _id, keySha256: _sha256, createdAt: _created, lastUsedAt: _used, ...kept } = old;
    await tx.insert(apiKeys).values({ ...kept, id: key.id, keySha256: keyDigest(key.text) });
    const expiresAt = sql`least(${apiKeys.expiresAt}, ${secondsFromNow(of.graceSeconds)})`;
    await tx.update(apiKeys).set({ expiresAt, replacedBy: key.id }).where(eq(apiKeys.id, of.id));
    return { kind: "done", value: key };
  });
}

/** Ends a key. Again: it stays revoked since the first time. Value: its project. */
export async function revokeKey(orm: Orm, id: string): Promise<KeyChange<string>> {
  const [row] = await orm
    .update(apiKeys)
    .set({ revokedAt: sql`coalesce(${apiKeys.revokedAt}, now())` })
    .where(eq(apiKeys.id, id))
    .returning({ projectId: apiKeys.projectId });
  return row === undefined ? { kind: "no-such-key" } : { kind: "done", value: row.projectId };
}

/** A key that is neither expired nor revoked, and notes that it was used. */
export async function findValidKey(orm: Orm, sha256: Uint8Array): Promise<ApiKeyRow | undefined> {
  const isStale = sql<boolean>`coalesce(${apiKeys.lastUsedAt} < now() - make_interval(secs => ${usedEverySeconds}), true)`;
  const [row] = await orm
    .select({ ...shown, isStale })
    .from(apiKeys)
    .where(and(eq(apiKeys.keySha256, sha256), isValid()));
  if (row?.isStale === true) {
    // A second look-up at the same time finds it noted and writes nothing.
    await orm
      .update(apiKeys)
      .set({ lastUsedAt: sql`now()` })
      .where(and(eq(apiKeys.id, row.id), isStale));
  }
  return row;
}

function isValid() {
  return and(isNull(apiKeys.revokedAt), or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, sql`now()`)));
}

function secondsFromNow(seconds: number) {
  return sql`now() + make_interval(secs => ${seconds})`;
}

function drawKey(random: Random): NewKey {
  const id = Buffer.from(random.bytes(idBytes)).toString("hex");
  return { id, text: `millrace_${id}_${Buffer.from(random.bytes(secretBytes)).toString("hex")}` };
}
