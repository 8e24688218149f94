import { writeFileSync, writeSync } from "node:fs";

const skippedNamesMax = 30;

/**
 * A vitest reporter whose only output is the closing line `N passed, N failed, N skipped`, summed over all
 * projects, as the very last thing this process prints; before it the names of skipped tests. With
 * CLOSING_LINE_FILE set the line goes into that file instead, for a script that prints it after npm's own words.
 */
export default class ClosingLineReporter {
  onTestRunEnd(modules, unhandledErrors, reason) {
    const counts = { passed: 0, failed: 0, skipped: [] };
    for (const module of modules) countModule(module, counts);
    counts.failed += unhandledErrors.length;
    if (counts.failed === 0 && reason === "interrupted") counts.failed = 1;
    process.once("exit", (code) => printCounts(counts, code));
  }
}

/** A file that fails before or beside its tests (a syntax error, a failing hook) counts as one failure. */
function countModule(module, counts) {
  const failedBefore = counts.failed;
  for (const test of module.children.allTests()) {
    const { state } = test.result();
    if (state === "passed") counts.passed += 1;
    else if (state === "failed") counts.failed += 1;
    else counts.skipped.push(`${module.relativeModuleId} > ${test.fullName}`);
  }
  if (module.state() === "failed" && counts.failed === failedBefore) counts.failed += 1;
}

function printCounts({ passed, failed, skipped }, exitCode) {
  const failures = exitCode !== 0 && failed === 0 ? 1 : failed;
  const line = `${passed} passed, ${failures} failed${skipped.length > 0 ? `, ${skipped.length} skipped` : ""}`;
  for (const name of skipped.slice(0, skippedNamesMax)) writeSync(1, `skipped: ${name}\n`);
  if (skipped.length > skippedNamesMax) writeSync(1, `skipped: ${skipped.length - skippedNamesMax} more\n`);
  const file = process.env.CLOSING_LINE_FILE;
  if (file === undefined) writeSync(1, `${line}\n`);
  else writeFileSync(file, `${line}\n`);
}
