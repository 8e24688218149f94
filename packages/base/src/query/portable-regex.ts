import { FaultFound } from "./query.ts";

/**
 * Regular expressions that PostgreSQL and RE2 understand alike. What they do differently is refused: back-references,
 * look-around, lazy quantifiers, word boundaries, POSIX classes. `.` and negated classes match a line feed, `^` and `$` are
 * the ends of the text, `\d`, `\w`, `\s` and the flag `i` mean ASCII.
 */

/** Characters of a pattern once its repetitions are written out; bounds the states of either engine. */
const sizeMax = 1_000;
const repeatMax = 100;
const depthMax = 20;

type CodeRange = readonly [number, number];

const digits: readonly CodeRange[] = [[0x30, 0x39]];
const wordRanges: readonly CodeRange[] = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
const spaces: readonly CodeRange[] = [
  [0x09, 0x0d],
  [0x20, 0x20],
];
const classes: Readonly<Record<string, readonly CodeRange[]>> = { d: digits, w: wordRanges, s: spaces };
const controls: Readonly<Record<string, string>> = { t: "\t", n: "\n", r: "\r" };

/**
 * The same pattern in the words that both engines share, its case folded into classes.
 *
 * @param at.offset where `pattern` begins in the query, for faults
 * @throws FaultFound
 */
export function portableRegex(pattern: string, at: { offset: number; ignoreCase: boolean }): string {
  const reader = new RegexReader(pattern, at);
  const all = reader.alternatives(0);
  reader.expectEnd();
  return all.text;
}

interface Piece {
  readonly text: string;
  readonly size: number;
}

class RegexReader {
  private readonly chars: readonly string[];
  private readonly offset: number;
  private readonly ignoreCase: boolean;
  private at = 0;

  constructor(pattern: string, how: { offset: number; ignoreCase: boolean }) {
    this.chars = [...pattern];
    this.offset = how.offset;
    this.ignoreCase = how.ignoreCase;
  }

  alternatives(depth: number): Piece {
    if (depth > depthMax) this.fail("groups are nested too deeply");
    const branches = [this.branch(depth)];
    while (this.take("|")) branches.push(this.branch(depth));
    const size = branches.reduce((sum, one) => sum + one.size, 0);
    if (size > sizeMax) this.fail("the regular expression is too large");
    return { text: branches.map((one) => one.text).join("|"), size };
  }

  expectEnd(): void {
    if (this.at < this.chars.length) this.fail("this closing parenthesis has no opening one");
  }

  private branch(depth: number): Piece {
    let text = "";
    let size = 0;
    while (this.at < this.chars.length && this.peek() !== "|" && this.peek() !== ")") {
      const piece = this.piece(depth);
      text += piece.text;
      size += piece.size;
    }
    if (text === "") this.fail("an alternative is empty");
    return { text, size };
  }

  private piece(depth: number): Piece {
    const char = this.peek();
    if (char === "^" || char === "$") {
      this.at += 1;
      if (this.quantifier() !== undefined) this.fail("an anchor cannot be repeated");
      return { text: char, size: 1 };
    }
    const atom = this.atom(depth);
    const repeat = this.quantifier();
    if (repeat === undefined) return atom;
    const size = atom.size * Math.max(1, repeat.times);
    if (size > sizeMax) this.fail("the regular expression is too large");
    return { text: `${atom.text}${repeat.text}`, size };
  }

  private atom(depth: number): Piece {
    const char = this.next();
    if (char === "(") return this.group(depth);
    if (char === "[") return { text: this.bracket(), size: 1 };
    if (char === ".") return { text: ".", size: 1 };
    if (char === "\\") return { text: this.escape(), size: 1 };
    if ("*+?{".includes(char)) this.fail(`${char} has nothing to repeat; \\${char} means the character`, -1);
    return { text: this.literal(char), size: 1 };
  }

  private group(depth: number): Piece {
    if (this.take("?") && !this.take(":")) this.fail("look-around and flags inside are not supported");
    const inner = this.alternatives(depth + 1);
    if (!this.take(")")) this.fail("a group is not closed");
    return { text: `(?:${inner.text})`, size: inner.size + 1 };
  }

  private quantifier(): { text: string; times: number } | undefined {
    const char = this.peek();
    let found: { text: string; times: number } | undefined;
    if (char === "*" || char === "+" || char === "?") {
      this.at += 1;
      found = { text: char, times: 1 };
    } else if (char === "{") found = this.counted();
    if (found !== undefined && "*+?{".includes(this.peek() ?? " "))
      this.fail("lazy and doubled quantifiers are not supported");
    return found;
  }

  private counted(): { text: string; times: number } {
    const rest = this.chars.slice(this.at, this.at + 10).join("");
    const match = /^\{(\d{1,3})(,(\d{1,3})?)?\}/.exec(rest);
    if (match === null) return this.fail("write {n}, {n,} or {n,m}; \\{ means the character");
    const least = Number(match[1]);
    const most = match[3] === undefined ? least : Number(match[3]);
    if (least > most || most > repeatMax)
      this.fail(`repetitions go from 0 to ${repeatMax}, the smaller first`);
    this.at += match[0].length;
    return { text: match[0], times: most };
  }

  private escape(): string {
    const char = this.next();
    const named = classes[char.toLowerCase()];
    if (named !== undefined) return classText(named, char !== char.toLowerCase());
    return this.literal(this.escaped(char));
  }

  private escaped(char: string): string {
    const control = controls[char];
    if (control !== undefined) return control;
    if (!/^[!-/:-@[-`{-~]$/.test(char)) this.fail(`\\${char} is not supported`, -1);
    return char;
  }

  private bracket(): string {
    const negated = this.take("^");
    const ranges: CodeRange[] = [];
    while (!this.take("]")) {
      const char = this.next("a class is not closed");
      if (char === "[" && ":.=".includes(this.peek() ?? " "))
        this.fail("POSIX classes are not supported", -1);
      const named = char === "\\" ? classes[this.peek() ?? ""] : undefined;
      if (named === undefined) {
        ranges.push(this.range(char));
      } else {
        this.at += 1;
        ranges.push(...named);
      }
    }
    if (ranges.length === 0) this.fail("a class is empty", -1);
    return classText(this.ignoreCase ? bothCases(ranges) : ranges, negated);
  }

  private range(char: string): CodeRange {
    const low = this.classChar(char);
    if (this.peek() !== "-" || this.chars[this.at + 1] === "]") return [low, low];
    this.at += 1;
    const high = this.classChar(this.next("a class is not closed"));
    if (high < low) this.fail("a range goes from the smaller character to the larger", -1);
    return [low, high];
  }

  private classChar(char: string): number {
    const meant = char === "\\" ? this.escaped(this.next("a class is not closed")) : char;
    return meant.codePointAt(0) ?? 0;
  }

  private literal(char: string): string {
    const point = char.codePointAt(0) ?? 0;
    const cases = this.ignoreCase ? bothCases([[point, point]]) : [];
    return cases.length > 1 ? classText(cases, false) : escapedChar(char);
  }

  private peek(): string | undefined {
    return this.chars[this.at];
  }

  private next(missing = "the regular expression ends too early"): string {
    const char = this.chars[this.at];
    if (char === undefined) return this.fail(missing);
    this.at += 1;
    return char;
  }

  private take(char: string): boolean {
    if (this.peek() !== char) return false;
    this.at += 1;
    return true;
  }

  private fail(message: string, back = 0): never {
    const from = this.offset + this.chars.slice(0, Math.max(0, this.at + back)).join("").length;
    throw new FaultFound(message, { from, to: from + 1 });
  }
}

/** Adds to each range what its ASCII letters are in the other case. */
function bothCases(ranges: readonly CodeRange[]): CodeRange[] {
  return ranges.flatMap(([low, high]) => [
    [low, high] as const,
    ...shifted([low, high], { letters: [0x41, 0x5a], by: 0x20 }),
    ...shifted([low, high], { letters: [0x61, 0x7a], by: -0x20 }),
  ]);
}

function shifted([low, high]: CodeRange, of: { letters: CodeRange; by: number }): CodeRange[] {
  const from = Math.max(low, of.letters[0]);
  const to = Math.min(high, of.letters[1]);
  return from > to ? [] : [[from + of.by, to + of.by]];
}

function classText(ranges: readonly CodeRange[], negated: boolean): string {
  const items = ranges.map(([low, high]) => {
    const first = escapedChar(String.fromCodePoint(low));
    return low === high ? first : `${first}-${escapedChar(String.fromCodePoint(high))}`;
  });
  return `[${negated ? "^" : ""}${items.join("")}]`;
}

/** Both engines take a backslash before any ASCII punctuation as that character, in classes too. */
function escapedChar(char: string): string {
  return /^[!-/:-@[-^`{-~]$/.test(char) ? `\\${char}` : char;
}
