import { FaultFound, type Range, type RangeType } from "./query.ts";

/** A value as it is written, with its place in the query. */
export interface Written {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};
/** A hundred years: behind it dates leave what databases hold. */
const durationMsMax = 36_500 * 86_400_000;
const dayMs = 86_400_000;

/** A span that a comparison compares with: a day is one of 24 hours, a number one of length 1. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** A whole number, such as `3`, `>=3`, `1..5`. */
export function numberRange(value: Written): Range {
  return rangeOf(value, (text, at) => {
    const number = /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (!Number.isSafeInteger(number)) throw new FaultFound(`${quoted(text)} is no whole number`, at);
    return { from: number, to: number + 1 };
  });
}

/** A duration, such as `>5m`, `<=1h30m`, `10s..1m`. */
export function durationRange(value: Written): Range {
  return rangeOf(value, (text, at) => {
    const ms = durationMs(text);
    if (ms === undefined) throw new FaultFound(`${quoted(text)} is no duration; write 90s, 5m or 1h30m`, at);
    return { from: ms, to: ms + 1 };
  });
}

/** A time: an age such as `<2d`, or a date such as `>=2026-11-30` or `2026-11-01..2026-11-30`, in UTC. */
export function timeRange(value: Written): { type: RangeType; range: Range } {
  if (durationMs(value.text.replace(/^[<>]=?/, "")) === undefined || !/^[<>]/.test(value.text)) {
    return { type: "time", range: rangeOf(value, dateSpan) };
  }
  return { type: "age", range: durationRange(value) };
}

function rangeOf(value: Written, spanOf: (text: string, at: Written) => Span): Range {
  const compared = /^(>=|<=|>|<|=)?(.*)$/s.exec(value.text);
  const operator = compared?.[1];
  const rest = compared?.[2] ?? "";
  const from = value.from + (operator?.length ?? 0);
  const split = rest.indexOf("..");
  if (operator === undefined && split !== -1) {
    const low = endOf(rest.slice(0, split), { ...value, to: from + split }, spanOf);
    const high = endOf(rest.slice(split + 2), { ...value, from: from + split + 2 }, spanOf);
    if (low === undefined && high === undefined) throw new FaultFound("a range needs an end", value);
    if (low !== undefined && high !== undefined && low.from >= high.to)
      throw new FaultFound("a range goes from the smaller value to the larger", value);
    return { ...(low && { from: low.from }), ...(high && { to: high.to }) };
  }
  const span = spanOf(rest, { ...value, from });
  if (operator === ">") return { from: span.to };
  if (operator === ">=") return { from: span.from };
  if (operator === "<") return { to: span.from };
  if (operator === "<=") return { to: span.to };
  return span;
}

/** `*` or nothing leaves an end of a range open. */
function endOf(text: string, at: Written, spanOf: (text: string, at: Written) => Span): Span | undefined {
  return text === "" || text === "*" ? undefined : spanOf(text, at);
}

/** Milliseconds of `1h30m`, `1.5h`, `250ms`; undefined for what is no duration. */
export function durationMs(text: string): number | undefined {
  if (!/^(\d{1,12}(\.\d{1,6})?(ms|s|m|h|d|w))+$/.test(text)) return undefined;
  let ms = 0;
  for (const [, count, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d|w)/g)) {
    ms += Number(count) * (units[unit ?? ""] ?? Number.NaN);
  }
  return ms <= durationMsMax ? Math.round(ms) : undefined;
}

function dateSpan(text: string, at: Written): Span {
  const match = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{3}))?)?(Z|[+-]\d\d:\d\d)?)?$/.exec(
    text,
  );
  const hint = `${quoted(text)} is no time; write an age such as <2d, or 2026-11-30 or 2026-11-30T10:00Z`;
  if (match === null) throw new FaultFound(hint, at);
  const [, year, month, day, hour, minute, second, fraction, zone] = match;
  const time = `${hour ?? "00"}:${minute ?? "00"}:${second ?? "00"}.${fraction ?? "000"}`;
  const from = Date.parse(`${year}-${month}-${day}T${time}${zone ?? "Z"}`);
  const midnight = Date.parse(`${year}-${month}-${day}T00:00:00Z`);
  // `Date` takes 31 February for a day in March.
  const real = !Number.isNaN(midnight) && new Date(midnight).getUTCDate() === Number(day);
  if (Number.isNaN(from) || !real || from < 0) throw new FaultFound(hint, at);
  const length =
    hour === undefined ? dayMs : second === undefined ? 60_000 : fraction === undefined ? 1_000 : 1;
  return { from, to: from + length };
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}
