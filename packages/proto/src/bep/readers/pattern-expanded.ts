import { isMalformed, type Malformed } from "../../wire/field-scanner.ts";
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
}

/** Reads a payload of kind `expanded`. */
export function readPatternExpanded(event: BepEvent): PatternExpanded | Malformed {
  const id = readEventId(event);
  if (isMalformed(id)) return id;
  let testSuiteCount = 0;
  const scanner = scanPayload(event);
  while (scanner.next()) if (scanner.isBytes(1)) testSuiteCount += 1;
  if (scanner.malformed) return scanner.malformed;
  const skipped = event.id === idField.patternSkipped;
  return { patterns: id.patterns, skipped, childCount: event.childCount, testSuiteCount };
}
