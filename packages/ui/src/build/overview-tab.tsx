import { Facts } from "./facts.tsx";
import { Failures } from "./failures.tsx";
import { LogTail } from "./log-tail.tsx";
import styles from "./overview-tab.module.css";
import { useShownInvocation } from "./use-shown-invocation.ts";

/** The cause first, then what the log said last, then the numbers. */
export function OverviewTab() {
  const build = useShownInvocation();
  return (
    <div className={styles.scroller}>
      <div className={styles.columns}>
        <div className={styles.main}>
          <Failures build={build} />
          {build.status === "succeeded" ? null : <LogTail build={build} />}
          {build.status === "succeeded" ? <p className={styles.calm}>{calmText(build.tests.total)}</p> : null}
        </div>
        <Facts build={build} />
      </div>
    </div>
  );
}

function calmText(tests: number): string {
  return tests > 0 ? "Every test passed." : "Everything was built.";
}
