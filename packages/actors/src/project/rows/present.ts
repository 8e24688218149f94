/** `{ [name]: value }`, or nothing when the value is absent: a patch names only what its event set. */
export function present<N extends string, V>(name: N, value: V | undefined): { [K in N]?: V } {
  return value === undefined ? {} : ({ [name]: value } as { [K in N]?: V });
}

/** The same for texts, where BEP's "" means absent. */
export function presentText<N extends string>(name: N, value: string): { [K in N]?: string } {
  return present(name, value === "" ? undefined : storable(value));
}

/** What a page can show of one text. Events of 50 MB and more have been reported; the raw event has it all. */
const textCharsMax = 16_384;

/** A text as a row may hold it: cut, and without U+0000, which PostgreSQL refuses. A build is never refused for it. */
export function storable(text: string): string {
  const shown = text.length > textCharsMax ? text.slice(0, textCharsMax).toWellFormed() : text;
  return shown.includes("\u0000") ? shown.replaceAll("\u0000", "\ufffd") : shown;
}

// An entry of a PostgreSQL index has 2,704 bytes at most; a character has three in UTF-8.
const keyCharsMax = 800;

/** Whether a row with these key texts can be indexed; if not it is not made, or its whole batch would lose its rows. */
export function isKey(label: string, ...rest: readonly string[]): boolean {
  return label !== "" && rest.reduce((sum, text) => sum + text.length, label.length) <= keyCharsMax;
}

/** A text of a row that is written as a whole, where absent is null. Cheaper than spreading: targets are half of a stream. */
export function textOrNull(value: string): string | null {
  return value === "" ? null : storable(value);
}

const listMax = 1000;

/** Tags and the like, usually none. */
export function storableAll(texts: readonly string[]): string[] {
  return texts.length === 0 ? [] : texts.slice(0, listMax).map(storable);
}
