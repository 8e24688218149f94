import { type ReactNode, useEffect, useRef } from "react";
import { CloseIcon } from "../widgets/icons.tsx";
import styles from "./side-panel.module.css";

/** Everything about one row, beside the table; on a phone above it. */
export function SidePanel(props: { title: string; onClose: () => void; children: ReactNode }) {
  const panel = useRef<HTMLElement>(null);
  const { title } = props;
  useEffect(() => {
    panel.current?.scrollTo({ top: 0 });
  }, [title]);
  return (
    <aside className={styles.panel} aria-label={title} ref={panel}>
      <header className={styles.header}>
        <h2 className={styles.title}>{title}</h2>
        <button type="button" className={styles.close} aria-label="Close the details" onClick={props.onClose}>
          <CloseIcon />
        </button>
      </header>
      <div className={styles.body}>{props.children}</div>
    </aside>
  );
}

/** A name and what stands under it; nothing when there is nothing. */
export function PanelFact(props: { label: string; children: ReactNode }) {
  if (props.children === null || props.children === "" || props.children === undefined) return null;
  return (
    <div className={styles.fact}>
      <dt>{props.label}</dt>
      <dd>{props.children}</dd>
    </div>
  );
}
