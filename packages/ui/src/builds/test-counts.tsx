import type { Build } from "@millrace/client/client";
import { countOf, countText } from "../format/amounts.ts";
import styles from "./test-counts.module.css";

/** Tests of a build, or its targets when it ran none: `230 ✓ 1 ✗ 2 ~`. */
export function TestCounts(props: { build: Pick<Build, "tests" | "targets" | "status"> }) {
  const { tests, targets, status } = props.build;
  if (tests.total === 0) {
    if (targets.total === 0) return <span className={styles.none}>–</span>;
    const text =
      status === "running"
        ? `${countText(targets.done)}/${countText(targets.total)} targets`
        : countOf(targets.total, "target");
    return (
      <span className={styles.counts}>
        <span className={styles.plain}>{text}</span>
        {targets.failed > 0 ? <Count count={targets.failed} sign="✗" word="failed" tone="failed" /> : null}
      </span>
    );
  }
  return (
    <span className={styles.counts}>
      <Count count={tests.passed} sign="✓" word="passed" tone="passed" />
      {tests.failed > 0 ? <Count count={tests.failed} sign="✗" word="failed" tone="failed" /> : null}
      {tests.flaky > 0 ? <Count count={tests.flaky} sign="~" word="flaky" tone="flaky" /> : null}
    </span>
  );
}

function Count(props: { count: number; sign: string; word: string; tone: "passed" | "failed" | "flaky" }) {
  return (
    <span className={styles[props.tone]} title={`${countText(props.count)} ${props.word}`}>
      {countText(props.count)}
      <span aria-hidden="true"> {props.sign}</span>
      <span className="visually-hidden"> {props.word}</span>
    </span>
  );
}
