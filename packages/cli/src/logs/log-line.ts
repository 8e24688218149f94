/** How serious a line is. */
export type Level = "debug" | "info" | "warn" | "error";

/** A line as a person should see it, from whichever process. */
export interface LogLine {
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  /** Of which part: `writer-1`. */
  readonly part: string;
  readonly level: Level;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

const seriousness: Readonly<Record<Level, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

/** Whether `level` is at least as serious as `least`. */
export function isAtLeast(level: Level, least: Level): boolean {
  return seriousness[level] >= seriousness[least];
}

/** Wide enough for all our parts, so that messages stand below each other. */
const partColumns = 8;

const colours: Readonly<Record<Level, number>> = { debug: 90, info: 36, warn: 33, error: 31 };

/** `12:03:44 writer-1 info  committed events=500` in local time. */
export function formatLine(line: LogLine, how: { readonly isColoured: boolean }): string {
  const paint = (text: string, code: number): string =>
    how.isColoured && text !== "" ? `\x1b[${code}m${text}\x1b[0m` : text;
  const fields = Object.entries(line.fields).map(([name, value]) => ` ${name}=${valueText(value)}`);
  return [
    paint(clockTime(line.atMs), 90),
    line.part.padEnd(partColumns),
    paint(line.level.padEnd(5), colours[line.level]),
    `${oneLine(line.message)}${paint(fields.join(""), 90)}`,
  ].join(" ");
}

/** Hours, minutes and seconds in local time. */
export function clockTime(atMs: number): string {
  const at = new Date(atMs);
  return [at.getHours(), at.getMinutes(), at.getSeconds()]
    .map((part) => String(part).padStart(2, "0"))
    .join(":");
}

function valueText(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text !== undefined && /^[^\s"=]+$/.test(text) ? text : JSON.stringify(text ?? null);
}

/** What a client sent may stand in a message; it must not move the cursor or begin a line of its own. */
function oneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  return text.replace(/[\x00-\x1f\x7f]/g, (character) =>
    character === "\t" ? " " : JSON.stringify(character).slice(1, -1),
  );
}
