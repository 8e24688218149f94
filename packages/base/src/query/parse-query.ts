import { portableRegex } from "./portable-regex.ts";
import {
  FaultFound,
  type Field,
  foldAscii,
  type Query,
  type QueryFault,
  type Range,
  type Test,
  type TextMatch,
} from "./query.ts";
import { Scanner, type Value } from "./scanner.ts";
import { durationRange, numberRange, timeRange, type Written } from "./values.ts";

/** Longest query, in UTF-16 code units. */
export const queryLengthMax = 2_000;
const depthMax = 20;
const testsMax = 60;
const valuesMax = 100;

export type Parsed =
  | { readonly kind: "query"; readonly query: Query }
  | { readonly kind: "fault"; readonly fault: QueryFault };

/**
 * Reads a query (docs/query.md) about records with these fields. The empty text is the query that all fulfil; whatever is
 * not understood is a fault, never left out.
 */
export function parseQuery(text: string, fields: readonly Field[]): Parsed {
  try {
    checkText(text);
    return { kind: "query", query: new Parser(text, fields).whole() };
  } catch (error) {
    if (error instanceof FaultFound) return { kind: "fault", fault: error.fault };
    throw error;
  }
}

function checkText(text: string): void {
  if (text.length > queryLengthMax)
    throw new FaultFound(`a query has at most ${queryLengthMax} characters`, {
      from: queryLengthMax,
      to: text.length,
    });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  const control = text.search(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/);
  if (control !== -1)
    throw new FaultFound("a query holds no control characters", { from: control, to: control + 1 });
  // Half a pair has no UTF-8 form.
  const half = text.search(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/);
  if (half !== -1) throw new FaultFound("a character is cut in half", { from: half, to: half + 1 });
}

class Parser {
  private readonly scanner: Scanner;
  private readonly fields: ReadonlyMap<string, Field>;
  private tests = 0;

  constructor(text: string, fields: readonly Field[]) {
    this.scanner = new Scanner(text);
    this.fields = new Map(fields.map((field) => [field.name, field]));
  }

  whole(): Query {
    this.scanner.skipSpaces();
    if (this.scanner.ended) return { kind: "all", of: [] };
    const query = this.any({ negated: false, depth: 0 });
    if (!this.scanner.ended) throw this.fault("this closing parenthesis has no opening one");
    return query;
  }

  private any(how: { negated: boolean; depth: number }): Query {
    if (how.depth > depthMax) throw this.fault("parentheses are nested too deeply");
    const parts = [this.all(how)];
    while (this.scanner.takeWord("OR")) parts.push(this.all(how));
    return joined(how.negated ? "all" : "any", parts);
  }

  private all(how: { negated: boolean; depth: number }): Query {
    const parts: Query[] = [];
    for (;;) {
      this.scanner.skipSpaces();
      const { at } = this.scanner;
      if (this.scanner.takeWord("AND")) {
        if (parts.length === 0)
          throw new FaultFound("AND stands between two claims", { from: at, to: at + 3 });
        this.scanner.skipSpaces();
        parts.push(this.unit(how));
        continue;
      }
      if (this.scanner.ended || this.scanner.peek() === ")" || this.atOr()) break;
      parts.push(this.unit(how));
    }
    if (parts.length === 0) throw this.fault("something to look for is missing here");
    return joined(how.negated ? "any" : "all", parts);
  }

  private atOr(): boolean {
    const { at } = this.scanner;
    const found = this.scanner.takeWord("OR");
    this.scanner.at = at;
    return found;
  }

  private unit(how: { negated: boolean; depth: number }): Query {
    const { scanner } = this;
    let negated = how.negated;
    for (let signs = 0; scanner.take("-") || scanner.take("!") || this.takeNot(); signs++) {
      if (signs > 0) throw this.fault("one sign of negation is enough");
      negated = !negated;
    }
    if (scanner.ended || /[\s)]/.test(scanner.peek()))
      throw this.fault("something to look for is missing here");
    if (!scanner.take("(")) return this.test(negated);
    const inner = this.any({ negated, depth: how.depth + 1 });
    if (!scanner.take(")")) throw this.fault("a parenthesis is not closed");
    return inner;
  }

  private takeNot(): boolean {
    const found = this.scanner.takeWord("NOT");
    if (found) this.scanner.skipSpaces();
    return found;
  }

  private test(negated: boolean): Query {
    this.tests += 1;
    if (this.tests > testsMax) throw this.fault(`a query makes at most ${testsMax} claims`);
    const key = this.scanner.takeKey();
    const test = key === undefined ? this.words() : this.claim(key);
    return { kind: "test", negated, test };
  }

  private words(): Test {
    const value = this.scanner.word();
    // The database looks through all columns at once, a line feed between them.
    if (value.text.includes("\n")) throw new FaultFound("free text stays on one line", value);
    return { kind: "words", text: foldAscii(value.text) };
  }

  private claim(key: Written): Test {
    const values = [this.scanner.value(key.text)];
    while (this.scanner.take(",")) values.push(this.scanner.value(key.text));
    if (values.length > valuesMax) throw new FaultFound(`at most ${valuesMax} values`, key);
    if (key.text.toLowerCase() === "has") return this.presence(values);
    const field = this.field(key);
    if (field.kind === "text")
      return { kind: "text", field: field.name, matches: values.map((one) => textMatch(one, field)) };
    const wrong = values.find((value) => value.form === "regex");
    if (wrong !== undefined) throw new FaultFound(`${field.name} takes no regular expression`, wrong);
    if (field.kind === "choice")
      return { kind: "choice", field: field.name, values: values.map((one) => choice(one, field)) };
    return rangeTest(values, field);
  }

  private presence(values: readonly Value[]): Test {
    const [value, second] = values;
    if (value === undefined || second !== undefined)
      throw new FaultFound("has: takes one field", second ?? { from: 0, to: 1 });
    return { kind: "has", field: this.field(value).name };
  }

  private field(key: Written): Field {
    const field = this.fields.get(key.text.toLowerCase());
    if (field !== undefined) return field;
    const known = [...this.fields.keys()].join(", ");
    throw new FaultFound(
      `there is no field ${key.text}; fields are ${known}. A text with a colon stands in quotation marks`,
      key,
    );
  }

  private fault(message: string): FaultFound {
    return new FaultFound(message, { from: this.scanner.at, to: this.scanner.at + 1 });
  }
}

function joined(kind: "all" | "any", parts: readonly Query[]): Query {
  const [only, second] = parts;
  return only !== undefined && second === undefined ? only : { kind, of: parts };
}

function textMatch(value: Value, field: Field): TextMatch {
  if (value.form === "regex") {
    const source = portableRegex(value.text, { offset: value.from + 1, ignoreCase: value.ignoreCase });
    return { kind: "regex", source };
  }
  if (value.form === "plain" && value.text.includes("*"))
    return { kind: "glob", parts: value.text.split("*") };
  return field.byPrefix ? { kind: "glob", parts: [value.text, ""] } : { kind: "equal", text: value.text };
}

function choice(value: Value, field: Field): string {
  const named = value.text.toLowerCase();
  if (field.choices?.includes(named)) return named;
  throw new FaultFound(`${field.name} is one of ${field.choices?.join(", ")}`, value);
}

function rangeTest(values: readonly Value[], field: Field): Test {
  if (field.kind !== "time") {
    const rangeOf = field.kind === "duration" ? durationRange : numberRange;
    return { kind: "range", field: field.name, type: "number", ranges: values.map(rangeOf) };
  }
  const found = values.map(timeRange);
  const type = found[0]?.type ?? "time";
  const other = found.findIndex((one) => one.type !== type);
  if (other !== -1)
    throw new FaultFound("ages and dates do not stand in one list", values[other] ?? { from: 0, to: 1 });
  const ranges: Range[] = found.map((one) => one.range);
  return { kind: "range", field: field.name, type, ranges };
}
