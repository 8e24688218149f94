import type { ReactNode } from "react";
import { CopyButton } from "../widgets/copy-button.tsx";
import styles from "./details-tab.module.css";

/** A titled list of what is known; not shown when no row has anything to say. */
export function Section(props: { title: string; children: ReactNode }) {
  return (
    <section className={styles.section}>
      <h2 className={styles.title}>{props.title}</h2>
      <dl className={styles.rows}>{props.children}</dl>
    </section>
  );
}

/** One fact; left out when there is nothing to say. */
export function Row(props: { label: string; children: ReactNode }) {
  const { children } = props;
  if (children === null || children === "" || children === undefined) return null;
  return (
    <div className={styles.row}>
      <dt>{props.label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Text that people take elsewhere. */
export function Copied(props: { text: string }) {
  return (
    <span className={styles.copied}>
      <code>{props.text}</code>
      <CopyButton text={props.text} label="Copy" isBare />
    </span>
  );
}
