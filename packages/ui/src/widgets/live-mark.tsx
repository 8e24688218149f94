import type { LiveLink } from "../api/follow.ts";
import styles from "./live-mark.module.css";

const words: Readonly<Record<LiveLink, string>> = {
  connecting: "Connecting",
  open: "Live",
  away: "Reconnecting",
};

/** Whether what is shown follows the server. */
export function LiveMark(props: { link: LiveLink }) {
  return (
    <span className={`${styles.mark} ${styles[props.link]}`} role="status">
      <span className={styles.dot} aria-hidden="true" />
      {words[props.link]}
    </span>
  );
}
