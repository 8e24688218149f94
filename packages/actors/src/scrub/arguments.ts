import { byteOf, has, inName, inValue, isDigit, latin1, runEnd } from "./bytes.ts";
import { judgeName } from "./credential-names.ts";
import { judgeValue } from "./rules/value-judgement.ts";
import { scanText } from "./scan-text.ts";
import { TextScan } from "./text-scan.ts";

/** What a flag's value is: a header, an environment variable with its value, or a credential itself. */
export type FlagKind = "header" | "environment" | "credential";

export interface Range {
  readonly from: number;
  readonly to: number;
}

interface Text extends Range {
  readonly bytes: Uint8Array;
}

const flagNameBytesMax = 128;

/** The kind of a flag by its name, without dashes before it. */
export function flagKind(name: string): FlagKind | undefined {
  if (name.endsWith("_header")) return "header";
  if (name.endsWith("_env")) return "environment";
  return judgeName(name).ends ? "credential" : undefined;
}

/**
 * What to mask in one argument of a command line. `pending` is the kind of the flag in the argument before, when that
 * was a flag alone: then this one is its value, unless it is a flag itself.
 */
export function maskArgument(argument: Text, pending: FlagKind | undefined): readonly Range[] {
  const from = behindOverride(argument);
  const { bytes, to } = argument;
  if (pending === undefined || from === to || bytes[from] === byteOf.dash) {
    return scanText({ bytes, from, to }, { argument: true }).spans;
  }
  return maskFlagValue({ bytes, from, to }, pending);
}

/** What to mask in the value of a flag of this kind. */
export function maskFlagValue(value: Text, kind: FlagKind | undefined): readonly Range[] {
  const { bytes, from, to } = value;
  if (from === to) return [];
  if (kind === "header") return [{ from, to }];
  if (kind === "credential") {
    const judgement = judgeValue(new TextScan(value, {}), { from, bits: inValue, mustLookMadeUp: false });
    return judgement === "secret" ? [{ from, to }] : [];
  }
  const nameTo = kind === "environment" ? runEnd(bytes, { from, to, bits: inName }) : from;
  if (
    nameTo > from &&
    nameTo - from < flagNameBytesMax &&
    bytes[nameTo] === byteOf.equals &&
    nameTo + 1 < to
  ) {
    if (judgeName(latin1(bytes, from, nameTo)).contains) return [{ from: nameTo + 1, to }];
  }
  return scanText({ bytes, from: behindOverride(value), to }, { argument: true }).spans;
}

/** The kind of the flag that the argument is, when it is a flag alone, its value in the next argument. */
export function pendingAfter(argument: Text): FlagKind | undefined {
  const from = behindOverride(argument);
  const { bytes, to } = argument;
  if (to - from > flagNameBytesMax || bytes[from] !== byteOf.dash || bytes[from + 1] !== byteOf.dash)
    return undefined;
  for (let at = from + 2; at < to; at += 1) {
    if (bytes[at] === byteOf.equals || (bytes[at] as number) <= byteOf.space) return undefined;
  }
  return flagKind(latin1(bytes, from + 2, to));
}

const override = "--default_override=";
const letterD = 0x64;

/**
 * Where the argument proper begins: the client passes each word of a bazelrc line on as
 * `--default_override=<rc file>:<command>=<word>`; the value of that option alone has the same form.
 */
function behindOverride({ bytes, from, to }: Text): number {
  const isFlag = bytes[from] === byteOf.dash && bytes[from + 2] === letterD;
  if (!isFlag && !has(bytes[from], isDigit)) return from;
  let at = from;
  if (latin1(bytes, from, Math.min(to, from + override.length)) === override) at += override.length;
  const match = /^\d+:[A-Za-z_:.-]+=/.exec(latin1(bytes, at, Math.min(to, at + 64)));
  return match === null ? from : at + match[0].length;
}
