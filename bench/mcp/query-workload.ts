import { closeSync, openSync, writeSync } from "node:fs";
import { systemClock } from "@millrace/base/clock";
import { createFilter } from "@millrace/mcp/pages/match";
import { countRows, fileStart, type RowPosition, readRows } from "@millrace/mcp/pages/row-page";
import { createRedactor } from "@millrace/mcp/redact/redactor";
import { file } from "@millrace/mcp/store/layout";
import {
  check,
  directoryBytes,
  freshRoot,
  type Measured,
  openStore,
  type Parameters,
  queuedInvocation,
  terminal,
  timed,
} from "./harness.ts";

const label = (row: number): string => `//benchmark/package:target_${String(row).padStart(12, "0")}`;
const redactor = createRedactor([]);
const forever = Number.MAX_SAFE_INTEGER;

/** A query of many rows: counting, paging, a rare filter, finishing. */
export async function queryWorkload(parameters: Parameters): Promise<Measured> {
  const store = openStore(freshRoot());
  const invocation = queuedInvocation(store, "query");
  await store.create(invocation);
  const rows = parameters.queryRows;
  const path = store.pathOf(invocation.request.id, file.stdout);
  writeRows(path, rows);
  await store.commit({ ...invocation, state: "starting" });
  await store.commit({ ...invocation, state: "running" });
  const page = (from: RowPosition, limit: number, filter?: ReturnType<typeof createFilter>) =>
    readRows({
      ...{ path, from, limit, filter, redact: redactor.text },
      ...{ timeBudgetMs: forever, clock: systemClock },
    });
  const counted = await timed(() => ({ count: countRows(path), sample: page(fileStart, 3) }));
  check(counted.value.count === rows, "every row is counted");
  check(counted.value.sample.rows.length === Math.min(3, rows), "the sample has three rows");
  const finish = await timed(async () => {
    const count = countRows(path) ?? 0;
    await store.commit(
      terminal({ ...invocation, state: "running" }, { summary: { ...summaryOf(count), elapsed_ms: 1 } }),
    );
  });
  const first = await timed(() => page(fileStart, 100));
  check(first.value.rows[99]?.value === label(99), "the first page has the first hundred rows");
  const next = first.value.next ?? fileStart;
  const second = await timed(() => page(next, 100));
  check(second.value.rows[0]?.value === label(100), "the next page goes on where the first ended");
  const rare = label(rows - 1);
  const filtered = async (caseSensitive: boolean): Promise<number> => {
    const found = await timed(() => page(fileStart, 100, createFilter(rare, { caseSensitive })));
    check(
      found.value.rows.length === 1 && found.value.rows[0]?.ordinal === rows - 1,
      "one row, with its number",
    );
    return found.ms;
  };
  const absent = await timed(() =>
    page(fileStart, 100, createFilter("NoSuchWord", { caseSensitive: false })),
  );
  check(absent.value.rows.length === 0 && absent.value.next === undefined, "the whole file is searched");
  return {
    query_store_bytes: directoryBytes(store.layout.root),
    query_filter_letters: absent.ms,
    query_count_sample: counted.ms,
    query_first_page: first.ms,
    query_next_page: second.ms,
    query_filter_exact: await filtered(true),
    query_filter_any_case: await filtered(false),
    finalise_query: finish.ms,
  };
}

function summaryOf(count: number) {
  return {
    headline: `${count} rows`,
    targets: { requested: 0, succeeded: 0, failed: 0 },
    tests: { passed: 0, failed: 0, flaky: 0, skipped: 0, incomplete: 0 },
    query_result_count: count,
  };
}

function writeRows(path: string, rows: number): void {
  const fd = openSync(path, "w", 0o600);
  const perWrite = 50_000;
  for (let at = 0; at < rows; at += perWrite) {
    const lines = Array.from({ length: Math.min(perWrite, rows - at) }, (_, index) => label(at + index));
    writeSync(fd, `${lines.join("\n")}\n`);
  }
  closeSync(fd);
}
