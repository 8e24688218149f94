import { useQuery } from "@tanstack/react-query";
import { serverQuery } from "../api/queries.ts";
import { CopyButton } from "../widgets/copy-button.tsx";
import styles from "./first-run.module.css";

/** Before the first build: what to paste, and that it will appear here by itself. */
export function FirstRun() {
  const lines = useQuery(serverQuery).data?.bazelrc ?? [];
  const text = lines.join("\n");
  return (
    <main className={styles.page}>
      <section className={styles.card} aria-labelledby="first-run">
        <h1 id="first-run" className={styles.title}>
          Send your first build
        </h1>
        <p className={styles.text}>
          Add these lines to the <code>.bazelrc</code> of a workspace, then build or test anything in it.
        </p>
        <div className={styles.lines}>
          <pre>{text === "" ? " \n " : text}</pre>
          <CopyButton text={`${text}\n`} label="Copy" />
        </div>
        <p className={styles.waiting} role="status">
          <span className={styles.pulse} aria-hidden="true" />
          Waiting for your first build. It appears here by itself.
        </p>
      </section>
    </main>
  );
}
