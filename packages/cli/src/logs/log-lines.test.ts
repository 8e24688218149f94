import { expect, test } from "vitest";
import { formatLine, type LogLine } from "./log-line.ts";
import { readNatsLine, readOwnLine, readPostgresLine } from "./read-lines.ts";

const source = { part: "writer-1", nowMs: 5 };
const plain = { isColoured: false };
const line = (over: Partial<LogLine>): LogLine => ({
  atMs: new Date(2026, 11, 1, 9, 3, 4).getTime(),
  part: "writer-1",
  level: "info",
  message: "writer is ready",
  fields: {},
  ...over,
});

test("a line of ours keeps time, level, message and fields, and drops what every line has", () => {
  const text = '{"level":40,"time":123,"name":"writer","pid":9,"shards":32,"msg":"NATS is away"}';
  expect(readOwnLine(text, source)).toEqual({
    atMs: 123,
    part: "writer-1",
    level: "warn",
    message: "NATS is away",
    fields: { shards: 32 },
  });
});

test.each(["Error: Cannot find module", '{"half": ', '{"no": "message"}', "{}"])(
  "%s is shown as it is",
  (text) => {
    expect(readOwnLine(text, source)).toMatchObject({ atMs: 5, level: "error", message: text });
  },
);

test("PostgreSQL's own business stays quiet, what it warns of does not", () => {
  const levels = [
    "LOG:  database system is ready to accept connections",
    "ERROR:  division by zero",
    "FATAL:  terminating connection due to administrator command",
    'PANIC:  could not write to file "pg_wal/xlogtemp.1"',
  ].map((text) => readPostgresLine(text, source).level);
  expect(levels).toEqual(["debug", "warn", "debug", "error"]);
});

test("a line of nats-server loses its prefix", () => {
  const read = readNatsLine("[99] 2026/12/01 01:02:03.456789 [WRN] slow consumer", source);
  expect(read).toMatchObject({ level: "warn", message: "slow consumer" });
});

test("columns stand below each other", () => {
  expect(formatLine(line({}), plain)).toBe("09:03:04 writer-1 info  writer is ready");
  expect(formatLine(line({ part: "api", level: "warn" }), plain)).toBe(
    "09:03:04 api      warn  writer is ready",
  );
});

test("values with spaces or quotes are quoted, others are not", () => {
  const fields = {
    port: 1985,
    url: "grpc://localhost:1985",
    why: "no room",
    said: 'a"b',
    none: null,
    list: [1],
  };
  expect(formatLine(line({ fields }), plain)).toContain(
    'port=1985 url=grpc://localhost:1985 why="no room" said="a\\"b" none=null list=[1]',
  );
});

test("a message can neither break the line nor move the cursor", () => {
  const shown = formatLine(line({ message: "first\nsecond\x1b[2J\r" }), plain);
  expect(shown).toContain("first\\nsecond\\u001b[2J\\r");
});

test("colours come only when they are asked for", () => {
  expect(formatLine(line({}), plain)).not.toContain("\x1b");
  expect(formatLine(line({}), { isColoured: true })).toContain("\x1b[36minfo ");
});
