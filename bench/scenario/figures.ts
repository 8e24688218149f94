/** A line's figures by name, with those of its parts as `cpuMicrosPerEvent.total`. */
export type Figures = Readonly<Record<string, number>>;

/** What is no figure of a run but says where it comes from. */
const originNames = new Set(["scenario", "commit", "date", "machine", "versions", "workload", "plan"]);

/** All numbers of a result line, whatever wrote it. */
export function figuresOf(line: object): Figures {
  const figures: Record<string, number> = {};
  const collect = (value: unknown, name: string): void => {
    if (typeof value === "number") figures[name] = value;
    if (typeof value !== "object" || value === null || Array.isArray(value)) return;
    for (const [key, inner] of Object.entries(value)) collect(inner, name === "" ? key : `${name}.${key}`);
  };
  for (const [name, value] of Object.entries(line)) {
    if (!originNames.has(name)) collect(value, name);
  }
  return figures;
}

/** The middle one; of an even number the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length / 2;
  const upper = sorted[Math.floor(half)] ?? 0;
  return Number.isInteger(half) ? (upper + (sorted[half - 1] ?? upper)) / 2 : upper;
}

/** The median of each figure that all the lines have. */
export function medianFigures(lines: readonly object[]): Figures {
  const all = lines.map(figuresOf);
  const names = Object.keys(all[0] ?? {}).filter((name) => all.every((figures) => name in figures));
  return Object.fromEntries(names.map((name) => [name, median(all.map((figures) => figures[name] ?? 0))]));
}
