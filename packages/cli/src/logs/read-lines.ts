import type { Level, LogLine } from "./log-line.ts";

/** What is known of a line before it is read. */
export interface LineSource {
  readonly part: string;
  /** For lines without a time of their own, in milliseconds since the epoch. */
  readonly nowMs: number;
}

/** Fields that every line of ours has and that say nothing here. */
const ownFields = new Set(["level", "time", "name", "msg", "pid", "hostname"]);

/** A line of one of our processes: JSON as pino writes it; anything else is what Node says before it dies. */
export function readOwnLine(text: string, source: LineSource): LogLine {
  const record = parseRecord(text);
  if (record === undefined || typeof record.msg !== "string") {
    return { atMs: source.nowMs, part: source.part, level: "error", message: text, fields: {} };
  }
  const fields = Object.entries(record).filter(([name]) => !ownFields.has(name));
  return {
    atMs: typeof record.time === "number" ? record.time : source.nowMs,
    part: source.part,
    level: pinoLevel(record.level),
    message: record.msg,
    fields: Object.fromEntries(fields),
  };
}

function parseRecord(text: string): Record<string, unknown> | undefined {
  if (!text.startsWith("{")) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Not a line of the logger; shown as it is.
  }
}

function pinoLevel(level: unknown): Level {
  if (typeof level !== "number" || level < 30) return "debug";
  if (level < 40) return "info";
  return level < 50 ? "warn" : "error";
}

/** What PostgreSQL says is for its own experts, unless it warns. A later line of the same message has no word. */
const postgresLevels: Readonly<Record<string, Level>> = {
  WARNING: "warn",
  ERROR: "warn",
  FATAL: "error",
  PANIC: "error",
};

/** What a crash of one of our processes, a restart or a stop makes PostgreSQL say. */
const expectedOfPostgres = [
  "terminating connection due to administrator command",
  "terminating connection due to unexpected postmaster exit",
  "the database system is shutting down",
  "the database system is starting up",
  "the database system is in recovery mode",
  "the database system is not yet accepting connections",
  "connection to client lost",
];

export function readPostgresLine(text: string, source: LineSource): LogLine {
  const match = /^([A-Z]+): +(.*)$/.exec(text);
  const message = match?.[2] ?? text;
  const isExpected = expectedOfPostgres.some((expected) => message.startsWith(expected));
  const level = isExpected ? "debug" : (postgresLevels[match?.[1] ?? ""] ?? "debug");
  return { atMs: source.nowMs, part: source.part, level, message, fields: {} };
}

const natsLevels: Readonly<Record<string, Level>> = { WRN: "warn", ERR: "error", FTL: "error" };

/** `[4242] 2026/12/01 12:03:44.123456 [INF] Server is ready`. */
export function readNatsLine(text: string, source: LineSource): LogLine {
  const match = /\[(INF|WRN|ERR|FTL|DBG|TRC)\] (.*)$/.exec(text);
  return {
    atMs: source.nowMs,
    part: source.part,
    level: natsLevels[match?.[1] ?? ""] ?? "debug",
    message: match?.[2] ?? text,
    fields: {},
  };
}
