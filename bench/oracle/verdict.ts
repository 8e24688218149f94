/** What can be wrong. */
export type FindingKind =
  /** An acknowledged event is not stored, or there is a hole before a stored one. */
  | "lost"
  /** An event, a piece of log or an attempt is stored twice. */
  | "doubled"
  /** Stored bytes are not those that were sent. */
  | "changed"
  /** More is stored than was sent. */
  | "beyond"
  /** Position, counts or names of an attempt contradict what is stored or was sent. */
  | "position"
  | "status"
  /** A derived row is wrong, missing or extra. */
  | "rows"
  /** Ranges or text of the log. */
  | "log"
  /** Something of the run's time that the log does not know, or rows that belong to nobody. */
  | "extra"
  | "dead-letter"
  | "hole";

export interface Finding {
  readonly kind: FindingKind;
  /** "" for what belongs to no build of the log. */
  readonly invocationId: string;
  readonly detail: string;
}

export interface Verdict {
  readonly verdict: "clean" | "findings" | "refused";
  /** Why the oracle refuses to judge; "" otherwise. */
  readonly reason: string;
  readonly builds: number;
  /** Builds whose bytes and rows were compared; all but with --sample. */
  readonly compared: number;
  /** Events of the log's builds that are stored, and those whose bytes were compared. */
  readonly eventsStored: number;
  readonly eventsCompared: number;
  readonly eventsAcked: number;
  /** Events that were acknowledged, or lie before a stored one, and are missing. */
  readonly lost: number;
  /** Events that are stored more than once. */
  readonly doubled: number;
  readonly counts: Partial<Record<FindingKind, number>>;
  /** The first of them. */
  readonly findings: readonly Finding[];
  readonly seconds: number;
  readonly buildsPerSecond: number;
}

const findingsShown = 100;

/** Collects findings: all are counted, the first are kept. */
export class Findings {
  readonly counts: Partial<Record<FindingKind, number>> = {};
  readonly first: Finding[] = [];
  lost = 0;
  doubled = 0;
  eventsStored = 0;
  eventsCompared = 0;

  add(kind: FindingKind, at: { readonly invocationId: string; readonly detail: string }): void {
    this.counts[kind] = (this.counts[kind] ?? 0) + 1;
    const { invocationId, detail } = at;
    if (this.first.length < findingsShown) this.first.push({ kind, invocationId, detail });
  }

  get isEmpty(): boolean {
    return Object.keys(this.counts).length === 0;
  }
}
