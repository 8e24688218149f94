import { loadZstd } from "@millrace/base/zstd";
import type { Database } from "@millrace/db/connect";
import { splitDelimited } from "../model/frames.ts";
import { readStoredRows, type StoredRows } from "../model/stored-rows.ts";

/** What the database holds of one attempt, read by plain SQL of the test's own. */
export interface StoredBuild extends StoredRows {
  readonly log: Buffer;
  /** `google.devtools.build.v1.BuildEvent` bytes in sequence. */
  readonly events: readonly Buffer[];
}

/** Reads everything of the newest attempt of an invocation. Segments must be contiguous, or it throws. */
export async function readStoredBuild(database: Database, invocationId: string): Promise<StoredBuild> {
  const query = async (text: string, ...parameters: unknown[]) => {
    const rows = await database.sql.unsafe(text, parameters as never[]);
    return rows.map((row) => ({ ...row })) as Record<string, unknown>[];
  };
  const [newest] = await query(
    "select attempt_id from invocations where invocation_id = $1 order by attempt desc limit 1",
    invocationId,
  );
  const id = Number(newest?.["attempt_id"] ?? 0);
  const rows = (await readStoredRows((text, parameters) => query(text, ...parameters), [id])).get(id);
  if (rows === undefined) throw new Error(`${invocationId} is not stored`);
  return {
    ...rows,
    log: await join(
      await query(
        `select first_byte as first, first_byte + byte_count - 1 as last, data from log_segments
         where attempt_id = $1 order by first_byte`,
        id,
      ),
      0,
    ),
    events: splitDelimited(
      await join(
        await query(
          `select first_seq as first, last_seq as last, data from event_segments
           where attempt_id = $1 order by first_seq`,
          id,
        ),
        1,
      ),
    ),
  };
}

async function join(segments: readonly Record<string, unknown>[], from: number): Promise<Buffer> {
  const zstd = await loadZstd();
  const pieces: Uint8Array[] = [];
  let next = from;
  for (const { first, last, data } of segments) {
    if (Number(first) !== next) throw new Error(`a segment begins at ${first} where ${next} was expected`);
    next = Number(last) + 1;
    pieces.push(await zstd.decompress(data as Uint8Array));
  }
  return Buffer.concat(pieces);
}
