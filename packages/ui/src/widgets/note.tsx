import { ApiProblem } from "@millrace/client/client";
import type { ReactNode } from "react";
import styles from "./note.module.css";

/** A place where nothing is to be shown, and why. */
export function Note(props: { title: string; children?: ReactNode }) {
  return (
    <div className={styles.note}>
      <p className={styles.title}>{props.title}</p>
      {props.children === undefined ? null : <div className={styles.body}>{props.children}</div>}
    </div>
  );
}

/** What went wrong, in the server's words, and a way to try again. */
export function Failure(props: { error: unknown; retry: () => void }) {
  const { error } = props;
  const isGone = error instanceof ApiProblem && error.status === 404;
  const message = error instanceof ApiProblem ? error.message : "The server does not answer.";
  return (
    <div className={styles.note} role="alert">
      <p className={styles.title}>{isGone ? "Not here" : "This cannot be shown right now"}</p>
      <p className={styles.body}>{message}</p>
      {isGone ? null : (
        <button type="button" className={styles.retry} onClick={props.retry}>
          Try again
        </button>
      )}
    </div>
  );
}
