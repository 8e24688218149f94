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

/** The main repository is written `@@//`, `@//` and `//` in events of one build (bazelbuild/bazel#14266). */
export function canonicalAspect(aspect: string): string {
  return aspect.startsWith("@") ? aspect.replace(/^@{1,2}\/\//, "//") : aspect;
}

/** A text of a row that is written as a whole, where absent is null. Cheaper than spreading: targets are half of a stream. */
export function textOrNull(value: string): string | null {
  return value === "" ? null : storable(value);
}

/** A number that 0 says nothing of. */
export function numberOrNull(value: number): number | null {
  return value === 0 ? null : value;
}

/** JSON of texts by name. */
export function storableObject(entries: Iterable<readonly [string, string]>): string {
  const object: Record<string, string> = {};
  let count = 0;
  let chars = 0;
  for (const [name, value] of entries) {
    count += 1;
    chars += name.length + value.length;
    if (count > listMax || chars > listCharsMax) break;
    // A plain assignment to `__proto__` would be lost.
    Object.defineProperty(object, storable(name), { value: storable(value), ...plainProperty });
  }
  return JSON.stringify(object);
}

const plainProperty = { enumerable: true, configurable: true, writable: true };

/** Command lines and options of megabytes are in the raw event; a row has their beginning. */
export function storableAll(texts: readonly string[]): string[] {
  if (texts.length === 0) return [];
  const shown: string[] = [];
  let chars = 0;
  for (const text of texts) {
    chars += text.length;
    if (shown.length >= listMax || (chars > listCharsMax && shown.length > 0)) break;
    shown.push(storable(text));
  }
  return shown;
}

const listMax = 1000;
const listCharsMax = 65_536;
