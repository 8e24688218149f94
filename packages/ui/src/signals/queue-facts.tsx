import type { SignalQueue } from "@millrace/client/client";
import type { ReactNode } from "react";
import { durationText } from "../format/duration.ts";
import styles from "./queue-facts.module.css";
import { commitText } from "./request-look.ts";

/** What there is to know of the shown queue: who holds its slots, its last green commit, its runner and its deadline. */
export function QueueFacts(props: { queue: SignalQueue; onOpen: (number: number) => void }) {
  const { queue, onOpen } = props;
  return (
    <dl className={styles.facts} aria-label={`Facts of ${queue.name}`}>
      <Fact label="Slots">
        {queue.slots.length} of {queue.maxConcurrent ?? "–"}
        {queue.slots.map(({ requestId, number }) =>
          number === null ? null : <Opens key={requestId} number={number} onOpen={onOpen} />,
        )}
      </Fact>
      {queue.lastGreenUri === null ? null : (
        <Fact label="Last green">
          <code title={queue.lastGreenUri}>{commitText(queue.lastGreenUri)}</code>
          <Opens number={numberOf(queue.lastGreenRequestId)} onOpen={onOpen} />
        </Fact>
      )}
      {queue.runner === null ? null : <Fact label="Runner">{queue.runner}</Fact>}
      {queue.maxValidationMs === null ? null : (
        <Fact label="Deadline">{durationText(queue.maxValidationMs)}</Fact>
      )}
    </dl>
  );
}

function Fact(props: { label: string; children: ReactNode }) {
  return (
    <div className={styles.fact}>
      <dt>{props.label}</dt>
      <dd>{props.children}</dd>
    </div>
  );
}

/** Opens a request of this queue. */
function Opens(props: { number: number | undefined; onOpen: (number: number) => void }) {
  const { number, onOpen } = props;
  if (number === undefined) return null;
  return (
    <button type="button" className={styles.open} onClick={() => onOpen(number)}>
      #{number}
    </button>
  );
}

/** The number at the end of a request's id. */
function numberOf(requestId: string | null): number | undefined {
  const number = Number(requestId?.split("/").at(-1));
  return Number.isSafeInteger(number) && number > 0 ? number : undefined;
}
