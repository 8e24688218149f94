import type { SignalLetterName } from "@millrace/proto/channels";

/** What operators do with dead letters. */
export interface LetterStore {
  /**
   * `redrive`: the message comes again on the topic it was given up on. `discard`: nobody handles it any more. Either
   * way its reconciler lets go of it and the letter stays on record. False when there is none.
   */
  settle(letter: SignalLetterName, how: "redrive" | "discard"): Promise<boolean>;
}
