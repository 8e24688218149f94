import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** Where results are kept, a file for each scenario, one line of JSON for each run. */
export const resultsDirectory = path.resolve(import.meta.dirname, "../results");

/** `name` is that of the file, by default the scenario's. */
export function appendResult(line: { readonly scenario: string }, name = line.scenario): void {
  mkdirSync(resultsDirectory, { recursive: true });
  appendFileSync(path.join(resultsDirectory, `${name}.jsonl`), `${JSON.stringify(line)}\n`);
}

/** All lines of a file. Throws with the number of a line that is no JSON object. */
export function readResults(file: string): Record<string, unknown>[] {
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  return lines.map((text, index) => {
    try {
      return JSON.parse(text) as Record<string, unknown>;
    } catch (cause) {
      throw new Error(`${file}: line ${index + 1} is not JSON`, { cause });
    }
  });
}
