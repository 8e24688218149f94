import type { CoverageFile } from "../store/details.ts";
import type { CoverageTotals } from "../store/record.ts";

interface FileHits {
  readonly lines: Map<number, number>;
  readonly branches: Map<string, number>;
  readonly functions: Map<string, number>;
}

/**
 * Merges LCOV reports of many tests: hits of the same line, branch or function of a file add up, so nothing counts twice.
 * Lines that are not LCOV are passed over.
 */
export class LcovMerge {
  private readonly files = new Map<string, FileHits>();

  add(text: string): void {
    let current: FileHits | undefined;
    for (const raw of text.split("\n")) {
      const line = raw.trimEnd();
      const colon = line.indexOf(":");
      const value = line.slice(colon + 1);
      const tag = colon === -1 ? line : line.slice(0, colon);
      if (tag === "SF") current = this.file(value);
      else if (line === "end_of_record") current = undefined;
      else if (current !== undefined) addRecord(current, { tag, value });
    }
  }

  private file(path: string): FileHits {
    const known = this.files.get(path);
    if (known !== undefined) return known;
    const made: FileHits = { lines: new Map(), branches: new Map(), functions: new Map() };
    this.files.set(path, made);
    return made;
  }

  /** By path. */
  result(): readonly CoverageFile[] {
    return [...this.files]
      .map(([path, hits]) => ({
        path,
        ...count("lines", hits.lines),
        coverage_percent: percent(hits.lines),
        ...(hits.branches.size === 0 ? {} : count("branches", hits.branches)),
        ...(hits.functions.size === 0 ? {} : count("functions", hits.functions)),
      }))
      .sort((a, b) => (a.path < b.path ? -1 : 1)) as CoverageFile[];
  }
}

function addRecord(file: FileHits, record: { tag: string; value: string }): void {
  const parts = record.value.split(",");
  const number = (index: number): number => Number(parts[index]);
  if (record.tag === "DA" && Number.isInteger(number(0)) && Number.isFinite(number(1))) {
    add(file.lines, number(0), number(1));
  } else if (record.tag === "BRDA" && parts.length >= 4) {
    add(file.branches, parts.slice(0, 3).join(","), parts[3] === "-" ? 0 : number(3));
  } else if (record.tag === "FNDA") {
    add(file.functions, parts.slice(1).join(","), number(0));
  } else if (record.tag === "FN") {
    // FN:line,name or FN:line,end,name
    add(file.functions, parts.slice(/^\d+$/.test(parts[1] ?? "") && parts.length > 2 ? 2 : 1).join(","), 0);
  }
}

function add<K>(map: Map<K, number>, key: K, hits: number): void {
  map.set(key, (map.get(key) ?? 0) + (Number.isFinite(hits) ? hits : 0));
}

function hit(map: ReadonlyMap<unknown, number>): number {
  let covered = 0;
  for (const hits of map.values()) if (hits > 0) covered += 1;
  return covered;
}

function count(name: string, map: ReadonlyMap<unknown, number>): Record<string, number> {
  return { [`${name}_found`]: map.size, [`${name}_hit`]: hit(map) };
}

function percent(lines: ReadonlyMap<unknown, number>): number {
  return percentage(hit(lines), lines.size);
}

function percentage(covered: number, found: number): number {
  return found === 0 ? 0 : Math.round((covered * 1000) / found) / 10;
}

/** Sums over all files. */
export function coverageTotals(files: readonly CoverageFile[]): CoverageTotals {
  const sum = (pick: (file: CoverageFile) => number | undefined): number =>
    files.reduce((total, file) => total + (pick(file) ?? 0), 0);
  const found = sum((file) => file.lines_found);
  const covered = sum((file) => file.lines_hit);
  const branches = sum((file) => file.branches_found);
  return {
    lines_found: found,
    lines_hit: covered,
    coverage_percent: percentage(covered, found),
    ...(branches === 0 ? {} : { branches_found: branches, branches_hit: sum((file) => file.branches_hit) }),
  };
}
