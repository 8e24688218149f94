import type { Measured } from "./harness.ts";

/** A row of the result: what was published for bazel-mcp (one run, macOS arm64), and what we aim at on two cores. */
interface RowSpec {
  readonly name: string;
  readonly what: string;
  readonly published: string;
  readonly target: { readonly most?: number; readonly least?: number } | undefined;
}

const rows: readonly RowSpec[] = [
  {
    name: "query_count_sample",
    what: "count 1,000,000 rows and 3-row sample, ms",
    published: "2.73",
    target: { most: 15 },
  },
  { name: "query_first_page", what: "first page of 100, ms", published: "0.041", target: { most: 1 } },
  { name: "query_next_page", what: "next page, ms", published: "0.037", target: { most: 1 } },
  {
    name: "query_filter_exact",
    what: "rare filter, whole file, exact case, ms",
    published: "–",
    target: { most: 30 },
  },
  {
    name: "query_filter_any_case",
    what: "rare filter, whole file, any case, ms",
    published: "114.4",
    target: { most: 110 },
  },
  {
    name: "query_filter_letters",
    what: "the same for a word of letters that is nowhere, any case, ms",
    published: "–",
    target: { most: 110 },
  },
  { name: "query_store_bytes", what: "bytes of the query's store", published: "–", target: undefined },
  { name: "lookup_p95_us_2000", what: "point look-up p95, µs", published: "0.167", target: { most: 0.5 } },
  {
    name: "open_snapshot_2000",
    what: "open 2,000 records from the snapshot, ms",
    published: "–",
    target: { most: 20 },
  },
  { name: "open_walk_2000", what: "open 2,000 records without, ms", published: "69.1", target: { most: 69 } },
  {
    name: "open_snapshot_20000",
    what: "open 20,000 from the snapshot, ms",
    published: "–",
    target: { most: 60 },
  },
  { name: "open_walk_20000", what: "open 20,000 without, ms", published: "648.3", target: { most: 648 } },
  {
    name: "open_snapshot_100000",
    what: "open 100,000 from the snapshot, ms",
    published: "–",
    target: { most: 300 },
  },
  {
    name: "open_walk_100000",
    what: "open 100,000 without, ms",
    published: "10,638",
    target: { most: 10_000 },
  },
  {
    name: "foreign_commit_20000",
    what: "see one foreign commit at 20,000, ms",
    published: "≈ 650 (rebuild)",
    target: { most: 5 },
  },
  {
    name: "store_bytes_2000",
    what: "bytes of 2,000 records",
    published: "2,210,000",
    target: { most: 2_200_000 },
  },
  { name: "gc", what: "retention by size over 2,000, ms", published: "366", target: { most: 366 } },
  { name: "gc_lookup_p95", what: "look-up p95 meanwhile, ms", published: "–", target: { most: 1 } },
  { name: "gc_inspect_p95", what: "read of a record p95 meanwhile, ms", published: "–", target: undefined },
  { name: "life_commits", what: "manifest commits per life", published: "4", target: { most: 4 } },
  { name: "life_bytes", what: "manifest bytes per life", published: "3,145", target: { most: 3145 } },
  { name: "life_recounts", what: "payload counts per life", published: "2", target: { most: 2 } },
  { name: "finalise_build", what: "finish a build, ms", published: "0.375", target: { most: 1 } },
  { name: "finalise_test", what: "finish 500 tests, ms", published: "0.725", target: { most: 2 } },
  { name: "finalise_query", what: "finish the query, ms", published: "3.143", target: { most: 20 } },
  { name: "writers_1_per_s", what: "lives per second, 1 writer", published: "991", target: undefined },
  { name: "writers_8_per_s", what: "8 writers", published: "1,524", target: undefined },
  { name: "writers_32_per_s", what: "32 writers", published: "959", target: undefined },
  { name: "writers_8_ratio", what: "8 writers ÷ 1 writer", published: "1.54", target: { least: 1.5 } },
  { name: "writers_32_ratio", what: "32 writers ÷ 1 writer", published: "0.97", target: { least: 1.5 } },
  ...[1, 8, 32].flatMap((writers): RowSpec[] => [
    {
      name: `writers_${writers}_lookup_p95`,
      what: `look-up p95 beside ${writers === 1 ? "1 writer" : `${writers} writers`}, ms`,
      published: "0.001 (of its own thread)",
      target: undefined,
    },
    {
      name: `writers_${writers}_inspect_p95`,
      what: `read p95 beside ${writers === 1 ? "1 writer" : `${writers} writers`}, ms`,
      published: "0.001 (of its own thread)",
      target: undefined,
    },
  ]),
  { name: "writers_1_p95", what: "1 writer p95, ms", published: "1.151", target: undefined },
  { name: "writers_8_p95", what: "8 writers p95, ms", published: "6.462", target: undefined },
  { name: "writers_32_p95", what: "32 writers p95, ms", published: "43.391", target: undefined },
  {
    name: "bep_small",
    what: "reduce one recorded build, ms",
    published: "0.111 (158 events)",
    target: { most: 5 },
  },
  { name: "bep_large", what: "reduce 67 MB, ms", published: "50.1", target: { most: 300 } },
  {
    name: "bep_large_rss_growth_bytes",
    what: "RSS growth meanwhile, bytes",
    published: "–",
    target: { most: 64 << 20 },
  },
  { name: "tail_1021", what: "after the last 1,021-byte piece, ms", published: "0.038", target: undefined },
  {
    name: "peak_rss_bytes",
    what: "peak RSS of the whole run, bytes",
    published: "80,400,000",
    target: undefined,
  },
  { name: "node_rss_bytes", what: "of it Node itself, bytes", published: "–", target: undefined },
  { name: "wall_ms", what: "whole run, ms", published: "34,187", target: undefined },
  { name: "repeats", what: "repeats, the best of which is given", published: "1", target: undefined },
  { name: "cpu_ms", what: "its CPU time, ms", published: "–", target: undefined },
  // Above the number of cores, times say how busy the machine was.
  { name: "load_average", what: "load average at the end", published: "–", target: undefined },
];

/** The result as a Markdown table. */
export function resultTable(measured: Measured): string {
  const lines = rows
    .filter((row) => measured[row.name] !== undefined)
    .map((row) => {
      const value = measured[row.name] ?? 0;
      const { most, least } = row.target ?? {};
      const bound = most !== undefined ? `≤ ${show(most)}` : least !== undefined ? `≥ ${show(least)}` : "";
      return `| ${row.what} | ${row.published} | ${show(value)} | ${bound} | ${verdict(row, value)} |`;
    });
  return ["| what | bazel-mcp, published | ours | target | |", "|---|---|---|---|---|", ...lines].join("\n");
}

/** Names of rows that miss their target. */
export function missed(measured: Measured): string[] {
  return rows.filter((row) => verdict(row, measured[row.name]) === "missed").map((row) => row.name);
}

function verdict(row: RowSpec, value: number | undefined): string {
  if (row.target === undefined || value === undefined) return "";
  const { most = Number.POSITIVE_INFINITY, least = Number.NEGATIVE_INFINITY } = row.target;
  return value <= most && value >= least ? "met" : "missed";
}

function show(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString("en");
  return value >= 10 ? value.toFixed(1) : value.toFixed(3);
}
