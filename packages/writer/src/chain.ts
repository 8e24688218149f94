/** Consecutive events, both ends included. */
export interface Span {
  readonly first: number;
  readonly last: number;
}

/** What the batches of one attempt and owner mean at a position. Each batch is in exactly one list. */
export interface Chain<B> {
  /** Committed before. */
  readonly repeats: readonly B[];
  /** One after the other from `committed` + 1: together one fence row. */
  readonly run: readonly B[];
  /** Its predecessor is missing. */
  readonly ahead: readonly B[];
  /** The same events as a part of `run`, once more: to be asked again when that is committed. */
  readonly doubles: readonly B[];
  /** Begins before the position and ends behind it. An owner seals an event once, so this is a broken actor. */
  readonly crossing: readonly B[];
}

/** Sorts `batches` by what they mean when `committed` events are stored. */
export function chain<B extends Span>(committed: number, batches: readonly B[]): Chain<B> {
  const repeats: B[] = [];
  const run: B[] = [];
  const ahead: B[] = [];
  const doubles: B[] = [];
  const crossing: B[] = [];
  let end = committed;
  for (const batch of [...batches].sort((a, b) => a.first - b.first || a.last - b.last)) {
    if (batch.last <= committed) repeats.push(batch);
    else if (batch.first <= committed) crossing.push(batch);
    else if (batch.first === end + 1) {
      run.push(batch);
      end = batch.last;
    } else if (batch.first > end + 1) ahead.push(batch);
    else doubles.push(batch);
  }
  return { repeats, run, ahead, doubles, crossing };
}
