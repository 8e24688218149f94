import { writeFileSync } from "node:fs";
import { isSandboxTrace } from "../diagnose/noise.ts";
import type { TestAttempt, TestRecord } from "../reduce/test-table.ts";
import type { TestCase } from "../store/details.ts";
import { fileMode } from "../store/private-file.ts";
import { type AllowedRoots, readEnds, resolveUri } from "./local-file.ts";
import { readTestXml } from "./test-xml.ts";

const logHalfBytes = 512 << 10;
const xmlHalfBytes = 8 << 20;
const allLogsBytesMax = 16 << 20;

/** What was kept of a test that did not pass. */
export interface TestEvidence {
  readonly log: string | undefined;
  readonly reason: string | undefined;
  readonly cases: readonly TestCase[];
}

/** Collects the logs of failed tests at the moment the build ends: the next build may remove them. */
export class TestLogs {
  private readonly roots: AllowedRoots;
  private readonly redact: (text: string) => string;
  private readonly rows: string[] = [];
  private bytes = 0;

  constructor(at: { roots: AllowedRoots; redact: (text: string) => string }) {
    this.roots = at.roots;
    this.redact = at.redact;
  }

  /** Reads log and cases of the worst attempt, and keeps the log. */
  collect(test: TestRecord): TestEvidence {
    const attempt = worstAttempt(test);
    const log = this.read(attempt, { name: "test.log", halfBytes: logHalfBytes });
    const xml = this.read(attempt, { name: "test.xml", halfBytes: xmlHalfBytes });
    const cases = xml.text === undefined ? [] : (readTestXml(xml.text)?.cases ?? []);
    if (log.text === undefined) return { log: undefined, reason: log.reason, cases };
    return { log: log.text, reason: this.keep(test.label, log.text), cases };
  }

  /** Why the log was not kept, or undefined when it was. */
  private keep(label: string, text: string): string | undefined {
    if (this.bytes + text.length > allLogsBytesMax) return "test_log_not_snapshotted";
    this.bytes += text.length;
    for (const line of text.trimEnd().split("\n")) {
      if (isSandboxTrace(line)) continue;
      this.rows.push(JSON.stringify({ label, text: this.redact(line) }));
    }
    return undefined;
  }

  private read(
    attempt: TestAttempt | undefined,
    wanted: { name: string; halfBytes: number },
  ): { text?: string; reason?: string } {
    const output = attempt?.outputs.find((one) => one.name === wanted.name);
    if (output === undefined) return { reason: "test_log_not_found" };
    const found = resolveUri(output.uri, this.roots);
    if (found.kind === "remote") return { reason: "remote_test_log_unavailable" };
    if (found.kind === "missing") return { reason: "test_log_not_found" };
    if (found.kind === "outside") return { reason: "test_log_outside_allowed_roots_or_unreadable" };
    const text = readEnds(found.path, wanted.halfBytes);
    return text === undefined ? { reason: "test_log_outside_allowed_roots_or_unreadable" } : { text };
  }

  /** Writes the rows; no file when there are none. */
  write(path: string): void {
    if (this.rows.length === 0) return;
    writeFileSync(path, `${this.rows.join("\n")}\n`, { mode: fileMode });
  }
}

function worstAttempt(test: TestRecord): TestAttempt | undefined {
  const bad = test.kept.filter((attempt) => attempt.status !== "passed");
  return bad.find((attempt) => attempt.status === test.status) ?? bad.at(-1) ?? test.kept.at(-1);
}
