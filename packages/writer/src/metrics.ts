import type { Metrics } from "@millrace/base/metrics";
import type { InboxItem } from "./inbox-flow.ts";
import type { Verdict } from "./verdict.ts";

/** What a writer counts. Called once a group or a work, never once an event. */
export interface WriterMetrics {
  groupCommitted(works: number, milliseconds: number): void;
  decided(item: InboxItem, verdict: Verdict): void;
  /** A commit failed; `code` is an SQLSTATE or a word of ours. */
  commitFailed(code: string): void;
  deadLetter(outcome: "partial" | "rejected"): void;
  inbox(bytes: number, works: number): void;
  inboxRefused(): void;
}

/** For tests. */
export const noMetrics: WriterMetrics = {
  groupCommitted: () => {},
  decided: () => {},
  commitFailed: () => {},
  deadLetter: () => {},
  inbox: () => {},
  inboxRefused: () => {},
};

const commitSeconds = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5, 1, 5];
const groupSizes = [1, 2, 5, 10, 20, 50, 100, 200, 500];

export function createWriterMetrics(metrics: Metrics): WriterMetrics {
  const name = (what: string): string => `millrace_writer_${what}`;
  const outcomes = metrics.counter(name("works_total"), "Works decided, by outcome.", ["outcome"]);
  const events = metrics.counter(name("events_committed_total"), "Events committed.");
  const seconds = metrics.histogram(name("commit_seconds"), "One transaction.", commitSeconds);
  const sizes = metrics.histogram(name("group_works"), "Works in a transaction.", groupSizes);
  const failures = metrics.counter(name("commit_failures_total"), "Failed transactions, by code.", ["code"]);
  const letters = metrics.counter(name("dead_letters_total"), "Dead letters, by outcome.", ["outcome"]);
  const bytes = metrics.gauge(name("inbox_bytes"), "Bytes that wait or are being committed.");
  const works = metrics.gauge(name("inbox_works"), "Works that wait or are being committed.");
  const refused = metrics.counter(name("inbox_refused_total"), "Works refused because the inbox was full.");
  return {
    groupCommitted: (count, milliseconds) => {
      seconds.observe(milliseconds / 1_000);
      sizes.observe(count);
    },
    decided: (item, verdict) => {
      outcomes.inc({ outcome: verdict.kind === "wait" ? verdict.why : verdict.outcome });
      if (verdict.kind !== "reply" || verdict.outcome !== "committed" || item.work.kind !== "batch") return;
      events.inc(item.work.last - item.work.first + 1);
    },
    commitFailed: (code) => failures.inc({ code }),
    deadLetter: (outcome) => letters.inc({ outcome }),
    inbox: (held, count) => {
      bytes.set(held);
      works.set(count);
    },
    inboxRefused: () => refused.inc(),
  };
}
