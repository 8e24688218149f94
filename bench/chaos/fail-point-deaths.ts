import { failPointNames as ingestPoints } from "@millrace/actors/fail-point-names";
import { commitPointNames } from "@millrace/writer/failpoints";

/** Long enough that a process does work between its deaths, and that supervision does not begin to wait. */
const afterSeconds = 20;

/** Has every writer and front door die at one of its points, by chance, and again after each new start. */
export const failPointEnvironment = {
  MILLRACE_FAIL_POINT: `${commitPointNames.join("|")}@${afterSeconds}`,
  MILLRACE_INGEST_FAIL_POINT: `${ingestPoints.join("|")}@${afterSeconds}`,
};

const lastWords = /dies at the fail point ([a-z-]+)/;

/** Counts the deaths at each point that is on the way of a batch, by the last words of the processes. */
export class FailPointDeaths {
  readonly counts: Record<string, number> = Object.fromEntries(
    [...commitPointNames, ...ingestPoints].map((name) => [name, 0]),
  );

  /** Takes a line of the output. */
  hear(line: string): void {
    const name = lastWords.exec(line)?.[1];
    if (name !== undefined) this.counts[name] = (this.counts[name] ?? 0) + 1;
  }
}
