import { type FieldScanner, isMalformed, type Malformed } from "../../wire/field-scanner.ts";
import { readEventId } from "../event-id.ts";
import { type BepEvent, idField } from "../kind.ts";
import { scanPayload } from "../payload.ts";

/** PatternExpanded, with what its event's id and children say. */
export interface PatternExpanded {
  readonly patterns: readonly string[];
  /** The patterns did not resolve; the build goes on without them (--keep_going). */
  readonly skipped: boolean;
  /** Announced targets. Their labels are read lazily: there can be 100,000. */
  readonly childCount: number;
  readonly testSuiteCount: number;
  readonly testSuites: readonly TestSuite[];
}

/** A test suite among the patterns, and the tests it stands for. */
export interface TestSuite {
  readonly label: string;
  readonly tests: readonly string[];
}

/** Reads a payload of kind `expanded`. */
export function readPatternExpanded(event: BepEvent): PatternExpanded | Malformed {
  const id = readEventId(event);
  if (isMalformed(id)) return id;
  const testSuites: TestSuite[] = [];
  const scanner = scanPayload(event);
  while (scanner.next()) if (scanner.isBytes(1)) testSuites.push(readTestSuite(scanner));
  if (scanner.malformed) return scanner.malformed;
  const skipped = event.id === idField.patternSkipped;
  return {
    patterns: id.patterns,
    skipped,
    childCount: event.childCount,
    testSuiteCount: testSuites.length,
    testSuites,
  };
}

function readTestSuite(outer: FieldScanner): TestSuite {
  let label = "";
  const tests: string[] = [];
  const scanner = outer.child();
  while (scanner.next()) {
    if (scanner.isBytes(1)) label = scanner.text;
    else if (scanner.isBytes(2)) tests.push(scanner.text);
  }
  return { label, tests };
}
