/** How one array type travels as text. */
interface ArrayType {
  readonly to: number;
  readonly from: number[];
  parse(text: string): unknown[];
  /** A string is an array's text form already: Drizzle makes one for columns. */
  serialize(values: readonly unknown[] | string): string;
}

type Element = (text: string) => unknown;

const asText: Element = (text) => text;
const asNumber: Element = Number;
const asBoolean: Element = (text) => text === "t";
const asBytes: Element = (text) => Buffer.from(text.slice(2), "hex");
const asJson: Element = (text) => JSON.parse(text);

/**
 * The array types we use, by name, with the numbers of pg_type. postgres.js would ask each new connection for them, and a
 * connection that breaks before the answer is a rejection that nobody handles: it takes the process down.
 */
export const arrayTypes: Readonly<Record<string, ArrayType>> = {
  boolArray: arrayType(1000, asBoolean),
  byteaArray: arrayType(1001, asBytes),
  int2Array: arrayType(1005, asNumber),
  int4Array: arrayType(1007, asNumber),
  textArray: arrayType(1009, asText),
  varcharArray: arrayType(1015, asText),
  int8Array: arrayType(1016, asNumber),
  float8Array: arrayType(1022, asNumber),
  dateArray: arrayType(1182, asText),
  timestamptzArray: arrayType(1185, asText),
  uuidArray: arrayType(2951, asText),
  jsonbArray: arrayType(3807, asJson),
};

function arrayType(oid: number, parseElement: Element): ArrayType {
  return {
    to: oid,
    from: [oid],
    parse: (text) => parseArray(text, parseElement),
    serialize: (values) => (typeof values === "string" ? values : arrayLiteral(values, oid === 3807)),
  };
}

/** An array as PostgreSQL reads it: every element quoted, so that none can be taken for NULL or a brace. */
export function arrayLiteral(values: readonly unknown[], json = false): string {
  return `{${values.map((value) => element(value, json)).join(",")}}`;
}

function element(value: unknown, json: boolean): string {
  if (value === null || value === undefined) return "null";
  if (json) return quoted(typeof value === "string" ? value : JSON.stringify(value));
  if (Array.isArray(value)) return arrayLiteral(value);
  if (value instanceof Uint8Array) return quoted(`\\x${Buffer.from(value).toString("hex")}`);
  if (value instanceof Date) return quoted(value.toISOString());
  return quoted(String(value));
}

function quoted(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

/** Reads the text form of an array of one or more dimensions. */
export function parseArray(text: string, parseElement: Element = asText): unknown[] {
  // Bounds such as `[0:1]={…}` come before the first brace.
  const [array] = parseFrom(text, text.indexOf("{") + 1, parseElement);
  return array;
}

function parseFrom(text: string, start: number, parseElement: Element): [unknown[], number] {
  const values: unknown[] = [];
  let at = start;
  while (at < text.length && text[at] !== "}") {
    if (text[at] === "{") {
      const [inner, after] = parseFrom(text, at + 1, parseElement);
      values.push(inner);
      at = after;
    } else {
      const { value, isQuoted, after } = readElement(text, at);
      values.push(!isQuoted && value.toUpperCase() === "NULL" ? null : parseElement(value));
      at = after;
    }
    if (text[at] === ",") at += 1;
  }
  return [values, at + 1];
}

function readElement(text: string, start: number): { value: string; isQuoted: boolean; after: number } {
  let value = "";
  let at = start;
  const isQuoted = text[at] === '"';
  if (isQuoted) at += 1;
  while (at < text.length) {
    const character = text[at];
    if (isQuoted ? character === '"' : character === "," || character === "}") break;
    if (character === "\\") at += 1;
    value += text[at] ?? "";
    at += 1;
  }
  return { value, isQuoted, after: isQuoted ? at + 1 : at };
}
