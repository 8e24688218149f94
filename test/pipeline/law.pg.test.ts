import { connect, type Database } from "@millrace/db/connect";
import { google } from "@millrace/proto/gen/bes";
import { expect, test } from "vitest";
import { getRun } from "../model/corpus.ts";
import { freshDatabase } from "../services/database.ts";
import { startLocalPipeline, type UploadedStream } from "./local-pipeline.ts";
import { uploadsOf } from "./uploads.ts";

/** Tables of derived rows, and what of them does not depend on when or by whom they were written. */
const derived: Readonly<Record<string, string>> = {
  targets:
    "label, aspect, configuration, status, target_kind, test_size, tags, failure_message, abort_reason, completed_at",
  test_results: "label, configuration, run, shard, attempt, status, started_at, duration_ms, outputs",
  test_summaries: "label, configuration, overall_status, total_run_count, attempt_count, shard_count",
  invocations:
    "status, partial, command, tool_version, started_at, finished_at, exit_code, exit_code_name, patterns, user_name, " +
    "event_count, log_bytes, log_lines, targets_total, targets_failed, tests_total, tests_passed, tests_failed, tests_flaky, " +
    "undecoded_events",
};

async function derivedRows(database: Database): Promise<Record<string, unknown[]>> {
  const tables: Record<string, unknown[]> = {};
  for (const [table, columns] of Object.entries(derived)) {
    const rows = await database.sql.unsafe(`select ${columns} from ${table} order by ${columns}`);
    tables[table] = rows.map((row) => ({ ...row }));
  }
  return tables;
}

async function rowsAfter(
  upload: (pipeline: Awaited<ReturnType<typeof startLocalPipeline>>) => Promise<void>,
) {
  await using fresh = await freshDatabase();
  const pipeline = await startLocalPipeline(fresh.url);
  const database = connect({ url: fresh.url, max: 1, name: "law" });
  try {
    await upload(pipeline);
    return await derivedRows(database);
  } finally {
    await pipeline.close();
    await database.close();
  }
}

/** Every event on a connection of its own: the actor that took it is gone before the next one comes. */
async function killBeforeEveryEvent(
  pipeline: Awaited<ReturnType<typeof startLocalPipeline>>,
  stream: UploadedStream,
): Promise<void> {
  const last = stream.events.length;
  for (let n = 1; n < last; n += 1) await pipeline.upload(stream, { from: n, to: n, breaks: true });
  await pipeline.upload(stream, { from: last, to: last, breaks: false });
}

/** Two events in the stream are of a kind that nobody can decode: they are counted, and counted once. */
function withForeignEvents(stream: UploadedStream): UploadedStream {
  const foreign = google.devtools.build.v1.BuildEvent.encode({
    bazelEvent: { type_url: "type.googleapis.com/some.other.Tool", value: Uint8Array.of(1, 2, 3) },
  }).finish();
  const events = [...stream.events];
  events.splice(7, 0, foreign);
  events.splice(20, 0, foreign);
  return { ...stream, events };
}

test.each(["bazel4-test-ok", "bazel7-test-bad", "bazel2-analysis-fail-keepgoing"])(
  "killing the actor before every single event of %s changes no row",
  async (name) => {
    const [recorded] = uploadsOf(getRun(name));
    if (recorded === undefined) throw new Error("the run has no stream");
    const stream = withForeignEvents(recorded);
    const whole = await rowsAfter((pipeline) => pipeline.upload(stream));
    const killed = await rowsAfter((pipeline) => killBeforeEveryEvent(pipeline, stream));
    expect(whole["invocations"]).toMatchObject([{ undecoded_events: 2 }]);
    expect(killed).toEqual(whole);
  },
);
