import { parseArgs } from "node:util";
import { closest } from "./closest.ts";
import { type Flag, type Flags, type FlagValues, flagName } from "./flag.ts";

/** What a command takes besides flags. */
export interface Operands {
  /** As the help text shows it, such as `FILE…`. */
  readonly shown: string;
  readonly min: number;
  readonly max: number;
}

export interface Arguments<F> {
  readonly kind: "arguments";
  readonly flags: FlagValues<F>;
  readonly operands: readonly string[];
  /** Keys of flags that were given on the command line. */
  readonly given: ReadonlySet<string>;
}

/** `message` is a sentence that says what was wrong and what to do. */
export interface WrongArguments {
  readonly kind: "wrong";
  readonly message: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads what follows the command's name; what no flag says is looked up in `environment`. */
export function parseArguments<F extends Flags>(
  args: readonly string[],
  shape: { flags: F; operands: Operands; environment: Environment },
): Arguments<F> | { kind: "help" } | WrongArguments {
  const texts = new Map<string, string | true>();
  const operands: string[] = [];
  const keys = new Map(Object.keys(shape.flags).map((key) => [flagName(key), key]));
  for (const token of tokenize(args, shape.flags)) {
    if (token.kind === "positional") operands.push(token.value);
    if (token.kind !== "option") continue;
    if (token.name === "help") return { kind: "help" };
    const key = keys.get(token.name);
    const flag = key === undefined ? undefined : shape.flags[key];
    if (key === undefined || flag === undefined) return unknownFlag(token.rawName, [...keys.keys()]);
    const text = token.value ?? true;
    const problem = shapeProblem(flag, { text, rawName: token.rawName, inline: token.inlineValue === true });
    if (problem !== undefined) return { kind: "wrong", message: problem };
    texts.set(key, text);
  }
  const problem = operandProblem(operands, shape.operands);
  if (problem !== undefined) return { kind: "wrong", message: problem };
  return readValues(texts, { ...shape, given: operands });
}

function tokenize(args: readonly string[], flags: Flags) {
  const options: Record<string, { type: "string" | "boolean"; short?: string }> = {
    help: { type: "boolean", short: "h" },
  };
  for (const [key, flag] of Object.entries(flags)) {
    options[flagName(key)] = {
      type: flag.placeholder === undefined ? "boolean" : "string",
      ...(flag.short !== undefined && { short: flag.short }),
    };
  }
  // Not strict: its errors are about arguments in general, ours name what to do.
  return parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true }).tokens;
}

function unknownFlag(rawName: string, names: readonly string[]): WrongArguments {
  const name = closest(rawName.replace(/^-+/, ""), names);
  const hint = name === undefined ? "" : ` Did you mean --${name}?`;
  return { kind: "wrong", message: `There is no flag ${rawName}.${hint}` };
}

function shapeProblem(
  flag: Flag<unknown>,
  token: { text: string | true; rawName: string; inline: boolean },
): string | undefined {
  if (flag.placeholder === undefined) {
    return token.text === true ? undefined : `${token.rawName} is a switch and takes no value.`;
  }
  // Another flag behind it was not meant as its value; `--flag=--value` says that it is.
  const hasValue = token.text !== true && (token.inline || !token.text.startsWith("--"));
  return hasValue ? undefined : `${token.rawName} needs a value: ${token.rawName} ${flag.placeholder}.`;
}

function operandProblem(operands: readonly string[], allowed: Operands): string | undefined {
  const extra = operands[allowed.max];
  if (extra !== undefined) return `${JSON.stringify(extra)} is one argument too many.`;
  return operands.length < allowed.min ? `${allowed.shown} is missing.` : undefined;
}

function readValues<F extends Flags>(
  texts: ReadonlyMap<string, string | true>,
  from: { flags: F; environment: Environment; given: readonly string[] },
): Arguments<F> | WrongArguments {
  const values: Record<string, unknown> = {};
  for (const [key, flag] of Object.entries(from.flags)) {
    const source = sourceOf(key, flag, { texts, environment: from.environment });
    if (source === undefined) {
      values[key] = flag.fallback;
      continue;
    }
    const parsed = flag.schema.safeParse(source.text);
    if (!parsed.success) {
      const shown = flag.secret ? "***" : JSON.stringify(source.text);
      const why = parsed.error.issues[0]?.message ?? "not valid";
      return { kind: "wrong", message: `${source.name} cannot be ${shown}: ${why}.` };
    }
    values[key] = parsed.data;
  }
  const flags = values as FlagValues<F>;
  return { kind: "arguments", flags, operands: from.given, given: new Set(texts.keys()) };
}

function sourceOf(
  key: string,
  flag: Flag<unknown>,
  from: { texts: ReadonlyMap<string, string | true>; environment: Environment },
): { name: string; text: string | true } | undefined {
  const text = from.texts.get(key);
  if (text !== undefined) return { name: `--${flagName(key)}`, text };
  const name = flag.environmentName;
  const fromEnvironment = name === undefined ? undefined : from.environment[name];
  if (name === undefined || fromEnvironment === undefined || fromEnvironment === "") return undefined;
  return { name, text: fromEnvironment };
}
