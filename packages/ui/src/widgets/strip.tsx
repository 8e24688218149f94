import type { Build } from "@millrace/client/client";
import type { Tone } from "../status/status.ts";
import styles from "./strip.module.css";

interface Part {
  readonly tone: Tone | "idle";
  readonly share: number;
}

/** Shares of a build by outcome, in the order in which they are drawn; they sum to 1 or to nothing. */
export function stripParts(build: Pick<Build, "status" | "targets" | "tests">): Part[] {
  const { targets, tests } = build;
  if (tests.total > 0 && build.status !== "running") {
    const other = tests.total - tests.passed - tests.failed - tests.flaky;
    return shares([
      ["failed", tests.failed],
      ["flaky", tests.flaky],
      ["passed", tests.passed],
      ["quiet", other],
    ]);
  }
  const tone = build.status === "running" ? "running" : "passed";
  return shares([
    ["failed", targets.failed],
    [tone, targets.done - targets.failed],
    ["idle", targets.total - targets.done],
  ]);
}

function shares(counts: [Part["tone"], number][]): Part[] {
  const total = counts.reduce((sum, [, count]) => sum + Math.max(0, count), 0);
  return counts.filter(([, count]) => count > 0).map(([tone, count]) => ({ tone, share: count / total }));
}

/** One thin band that stands for a build: what failed first, then the rest. */
export function Strip(props: { build: Pick<Build, "status" | "targets" | "tests">; isWide?: boolean }) {
  const parts = stripParts(props.build);
  return (
    <span className={`${styles.strip} ${props.isWide === true ? styles.wide : ""}`} aria-hidden="true">
      {parts.map((part) => (
        <span
          key={part.tone}
          className={`${styles.part} ${styles[part.tone]}`}
          style={{ flexGrow: Math.round(part.share * 10_000) }}
        />
      ))}
    </span>
  );
}
