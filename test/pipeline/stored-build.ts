import { loadZstd } from "@millrace/base/zstd";
import type { Database } from "@millrace/db/connect";
import { splitDelimited } from "../model/frames.ts";

/** What the database holds of one attempt, read by plain SQL of the test's own. */
export interface StoredBuild {
  readonly invocation: Readonly<Record<string, unknown>>;
  readonly targets: readonly Readonly<Record<string, unknown>>[];
  readonly testResults: readonly Readonly<Record<string, unknown>>[];
  readonly testSummaries: readonly Readonly<Record<string, unknown>>[];
  readonly log: Buffer;
  /** `google.devtools.build.v1.BuildEvent` bytes in sequence. */
  readonly events: readonly Buffer[];
}

const ms = (column: string, as: string): string =>
  `round(extract(epoch from ${column}) * 1000)::float8 as "${as}"`;

/** Reads everything of the newest attempt of an invocation. Segments must be contiguous, or it throws. */
export async function readStoredBuild(database: Database, invocationId: string): Promise<StoredBuild> {
  const query = async (text: string, ...parameters: unknown[]) => {
    const rows = await database.sql.unsafe(text, parameters as never[]);
    return rows.map((row) => ({ ...row })) as Record<string, unknown>[];
  };
  const [invocation] = await query(
    `select *, ${ms("started_at", "startedAtMs")}, ${ms("finished_at", "finishedAtMs")}
     from invocations where invocation_id = $1 order by attempt desc limit 1`,
    invocationId,
  );
  if (invocation === undefined) throw new Error(`${invocationId} is not stored`);
  const id = invocation["attempt_id"];
  return {
    invocation,
    targets: await query(
      `select *, ${ms("completed_at", "completedAtMs")} from targets where attempt_id = $1`,
      id,
    ),
    testResults: await query(
      `select *, ${ms("started_at", "startedAtMs")}, duration_ms::float8 as "durationMs"
       from test_results where attempt_id = $1`,
      id,
    ),
    testSummaries: await query(`select * from test_summaries where attempt_id = $1`, id),
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
