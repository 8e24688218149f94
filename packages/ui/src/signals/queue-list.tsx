import type { SignalQueue } from "@millrace/client/client";
import { Link } from "@tanstack/react-router";
import { countOf } from "../format/amounts.ts";
import type { StatusLook } from "../status/status.ts";
import { StatusGlyph } from "../widgets/status-glyph.tsx";
import styles from "./queue-list.module.css";
import { commitText } from "./request-look.ts";

/** The queues of a project; on a phone a row that scrolls sideways. */
export function QueueList(props: {
  project: string;
  queues: readonly SignalQueue[];
  shown: string | undefined;
}) {
  const { project, queues, shown } = props;
  return (
    <nav className={styles.list} aria-label="Queues">
      {queues.map((queue) => (
        <Link
          key={queue.name}
          to="/p/$project/signals"
          params={{ project }}
          search={{ queue: queue.name }}
          className={styles.queue}
          aria-current={queue.name === shown ? "page" : undefined}
          replace
        >
          <span className={styles.head}>
            <StatusGlyph look={queueLook(queue)} />
            <span className={styles.name}>{queue.name}</span>
            <Slots queue={queue} />
          </span>
          <span className={styles.line}>{waitText(queue)}</span>
          <span className={styles.line}>
            {queue.lastGreenUri === null ? (
              "Nothing green yet"
            ) : (
              <>
                Last green <code title={queue.lastGreenUri}>{commitText(queue.lastGreenUri)}</code>
              </>
            )}
          </span>
          {queue.openLetters === 0 ? null : (
            <span className={styles.alarm}>{countOf(queue.openLetters, "open dead letter")}</span>
          )}
        </Link>
      ))}
    </nav>
  );
}

function queueLook(queue: SignalQueue): StatusLook {
  if (queue.origin === null) return { word: "Not configured any more", tone: "quiet", glyph: "dash" };
  if (queue.stopped !== null) return { word: "Stopped by an operator", tone: "flaky", glyph: "stop" };
  if (queue.inProgress > 0) return { word: "Validating", tone: "running", glyph: "ring" };
  return { word: "Idle", tone: "quiet", glyph: "dot" };
}

function waitText(queue: SignalQueue): string {
  if (queue.stopped !== null)
    return queue.waiting > 0 ? `Stopped, ${countOf(queue.waiting, "request")} waiting` : "Stopped";
  if (queue.waiting > 0) return `${countOf(queue.waiting, "request")} waiting`;
  return queue.inProgress > 0 ? "Nothing waits" : "Idle";
}

const dotsMax = 8;

/** Slots taken of how many; dots while they can be counted at a glance. */
function Slots(props: { queue: SignalQueue }) {
  const taken = props.queue.slots.length;
  const all = Math.max(taken, props.queue.maxConcurrent ?? taken);
  const words = `${taken} of ${countOf(all, "slot")} taken`;
  if (all === 0) return null;
  return (
    <span className={styles.slots} role="img" aria-label={words} title={words}>
      {all > dotsMax
        ? `${taken}/${all}`
        : Array.from({ length: all }, (_, nth) => (
            <span key={nth} className={nth < taken ? styles.taken : styles.free} />
          ))}
    </span>
  );
}
