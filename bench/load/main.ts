/**
 * The load generator: uploads builds as Bazel does and says how fast they were acknowledged. `--help` lists its options.
 * Exit code 1 when an upload failed, 2 when the command line makes no sense.
 */
import { type LoadCommand, parseLoadCommand, UsageError, usage } from "./load-plan.ts";
import { runHere, runInProcesses } from "./load-process.ts";
import { type LoadReport, reportOf } from "./load-report.ts";

function commandOf(args: readonly string[]): LoadCommand {
  if (args.includes("--help")) {
    console.log(usage);
    process.exit(0);
  }
  try {
    return parseLoadCommand(args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}\n\n${usage}`);
    process.exit(2);
  }
}

function print(report: LoadReport): void {
  for (const [name, value] of Object.entries(report)) {
    const isList = Array.isArray(value);
    if (!isList) console.log(`${name.padEnd(28)}${value}`);
    else for (const message of value) console.log(`  ${message}`);
  }
}

const { plan, processes, asJson } = commandOf(process.argv.slice(2));
const { workloadHash, parts } = await (processes === 1 ? runHere(plan) : runInProcesses(plan, processes));
const report = reportOf(parts);
const { workload, streams, rate } = plan;
if (asJson) console.log(JSON.stringify({ workload, workloadHash, streams, rate, processes, ...report }));
else print(report);
process.exit(report.failed > 0 ? 1 : 0);
