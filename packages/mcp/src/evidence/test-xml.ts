import { XMLParser } from "fast-xml-parser";
import type { TestCase } from "../store/details.ts";

const casesMax = 20;
const messageCharactersMax = 600;

/** What a JUnit-like test.xml says. */
export interface TestXml {
  readonly total: number;
  /** Only cases that did not pass, at most twenty. */
  readonly cases: readonly TestCase[];
}

interface Node {
  readonly [key: string]: unknown;
}

// Entities are not expanded: a log has no need of them and hostile files do.
const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: "@",
  processEntities: false,
  parseAttributeValue: false,
  parseTagValue: false,
  isArray: (name) => ["testsuite", "testcase", "failure", "error", "skipped"].includes(name),
});

/** Reads both known root shapes. Undefined when the text is not such a file. */
export function readTestXml(text: string): TestXml | undefined {
  let root: Node;
  try {
    root = parser.parse(text) as Node;
  } catch {
    return undefined; // Tests write it, and may be killed while they do.
  }
  const suites = [...list(node(root.testsuites)?.testsuite), ...list(root.testsuite)];
  const cases: TestCase[] = [];
  let total = 0;
  for (const suite of suites.flatMap(withInner)) {
    for (const one of list(suite.testcase)) {
      total += 1;
      const read = readCase(one);
      if (read !== undefined && cases.length < casesMax) cases.push(read);
    }
  }
  return { total, cases };
}

function withInner(suite: Node): Node[] {
  return [suite, ...list(suite.testsuite).flatMap(withInner)];
}

function readCase(one: Node): TestCase | undefined {
  const status = (["failed", "error", "skipped"] as const).find((name) => one[tagOf[name]] !== undefined);
  if (status === undefined) return undefined;
  const [detail] = list(one[tagOf[status]]);
  const seconds = Number(one["@time"]);
  const name = [one["@classname"], one["@name"]].filter((part) => typeof part === "string" && part !== "");
  const message = detailText(detail, one[tagOf[status]]);
  return {
    name: name.join("."),
    status,
    ...(Number.isFinite(seconds) && one["@time"] !== undefined
      ? { duration_ms: Math.round(seconds * 1000) }
      : {}),
    ...(message === "" ? {} : { message }),
  };
}

const tagOf = { failed: "failure", error: "error", skipped: "skipped" } as const;

function detailText(detail: Node | undefined, raw: unknown): string {
  const first = Array.isArray(raw) ? (raw[0] as unknown) : raw;
  const text = typeof first === "string" ? first : "";
  const message = typeof detail?.["@message"] === "string" ? detail["@message"] : "";
  const body = typeof detail?.["#text"] === "string" ? detail["#text"] : text;
  return decode((message === "" ? body : message).trim()).slice(0, messageCharactersMax);
}

const named: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

function decode(text: string): string {
  return text.replace(/&(?:(lt|gt|amp|quot|apos)|#(\d{1,6})|#x([0-9a-f]{1,5}));/gi, (all, name, dec, hex) => {
    if (typeof name === "string") return named[name.toLowerCase()] ?? all;
    const code = typeof dec === "string" ? Number(dec) : Number.parseInt(String(hex), 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : all;
  });
}

function node(value: unknown): Node | undefined {
  const first = Array.isArray(value) ? (value[0] as unknown) : value;
  return typeof first === "object" && first !== null ? (first as Node) : undefined;
}

function list(value: unknown): Node[] {
  const all = Array.isArray(value) ? value : [value];
  return all.filter((one): one is Node => typeof one === "object" && one !== null);
}
