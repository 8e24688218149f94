/** Something that cannot be had. The message is one sentence for the person at the terminal. */
export class SetUpFailure extends Error {
  /** @param {string} sentence */
  constructor(sentence) {
    super(sentence);
    this.name = "SetUpFailure";
  }
}
