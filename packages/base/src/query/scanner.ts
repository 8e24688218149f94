import { FaultFound } from "./query.ts";
import type { Written } from "./values.ts";

/** A value behind a colon, or a free word. */
export type Value = Written & {
  readonly form: "plain" | "quoted" | "regex";
  /** Of a regular expression. */
  readonly ignoreCase: boolean;
};

/** Reads a query character by character. Offsets are UTF-16 code units. */
export class Scanner {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  get ended(): boolean {
    return this.at >= this.text.length;
  }

  skipSpaces(): void {
    while (/\s/.test(this.text[this.at] ?? "x")) this.at += 1;
  }

  peek(): string {
    return this.text[this.at] ?? "";
  }

  take(char: string): boolean {
    if (this.peek() !== char) return false;
    this.at += 1;
    return true;
  }

  /** An operator in capitals that stands by itself, such as `OR`. */
  takeWord(word: string): boolean {
    if (!this.text.startsWith(word, this.at)) return false;
    if (/[^\s()]/.test(this.text[this.at + word.length] ?? " ")) return false;
    this.at += word.length;
    return true;
  }

  /** The name before a colon, if here is one; the colon is read. */
  takeKey(): Written | undefined {
    const match = /[A-Za-z][A-Za-z0-9_.-]*:/y;
    match.lastIndex = this.at;
    const found = match.exec(this.text)?.[0];
    if (found === undefined) return undefined;
    const from = this.at;
    this.at += found.length;
    return { text: found.slice(0, -1), from, to: this.at - 1 };
  }

  /** A value behind a colon or a comma; `what` names its field in faults. */
  value(what: string): Value {
    const from = this.at;
    if (this.peek() === '"') return this.quoted();
    // `//app:lib` is a label, not a regular expression.
    if (this.peek() === "/" && this.text[this.at + 1] !== "/") return this.regex();
    const text = this.plain(/[\s,()"]/);
    if (text === "") throw new FaultFound(`${what} needs a value`, { from, to: from + 1 });
    return { form: "plain", ignoreCase: false, text, from, to: this.at };
  }

  /** A free word, or several in quotation marks. */
  word(): Value {
    if (this.peek() === '"') return this.quoted();
    const from = this.at;
    const text = this.plain(/[\s()"]/);
    return { form: "plain", ignoreCase: false, text, from, to: this.at };
  }

  private plain(end: RegExp): string {
    const from = this.at;
    while (!this.ended && !end.test(this.peek())) this.at += 1;
    return this.text.slice(from, this.at);
  }

  private quoted(): Value {
    const from = this.at;
    let text = "";
    this.at += 1;
    while (!this.take('"')) {
      if (this.ended) throw new FaultFound("a quotation mark is not closed", { from, to: this.at });
      if (this.peek() === "\\" && /["\\]/.test(this.text[this.at + 1] ?? "")) this.at += 1;
      text += this.peek();
      this.at += 1;
    }
    if (text === "")
      throw new FaultFound("there is nothing between the quotation marks", { from, to: this.at });
    return { form: "quoted", ignoreCase: false, text, from, to: this.at };
  }

  /** `/…/` or `/…/i`; a slash inside is written `\/`. */
  private regex(): Value {
    const from = this.at;
    this.at += 1;
    while (!this.ended && this.peek() !== "/") this.at += this.peek() === "\\" ? 2 : 1;
    if (this.ended) {
      const hint =
        "a regular expression ends with a slash; a text that begins with one stands in quotation marks";
      throw new FaultFound(hint, { from, to: this.text.length });
    }
    const text = this.text.slice(from + 1, this.at);
    this.at += 1;
    const ignoreCase = this.take("i");
    if (/[^\s,)]/.test(this.peek() || " "))
      throw new FaultFound("behind a regular expression only the flag i may stand", {
        from: this.at,
        to: this.at + 1,
      });
    return { form: "regex", ignoreCase, text, from, to: this.at };
  }
}
