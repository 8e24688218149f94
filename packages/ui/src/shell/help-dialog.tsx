import { useEffect, useRef } from "react";
import { CloseIcon } from "../widgets/icons.tsx";
import styles from "./help-dialog.module.css";
import { activeShortcuts } from "./shortcuts.ts";

/** The keys that work on this page. */
export function HelpDialog(props: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} className={styles.dialog} aria-labelledby="help-title" onClose={props.onClose}>
      <header className={styles.header}>
        <h2 id="help-title">Keys</h2>
        <form method="dialog">
          <button type="submit" className={styles.close} aria-label="Close">
            <CloseIcon />
          </button>
        </form>
      </header>
      <dl className={styles.keys}>
        {activeShortcuts().map((shortcut) => (
          <div key={shortcut.keys}>
            <dt>
              {shortcut.keys.split(" ").map((key) => (
                <kbd key={key}>{key === "Enter" ? "↵" : key}</kbd>
              ))}
            </dt>
            <dd>{shortcut.label}</dd>
          </div>
        ))}
      </dl>
    </dialog>
  );
}
