/**
 * The load generator: uploads builds as Bazel does and says how fast they were acknowledged. `--help` lists its options.
 * Exit code 1 when an upload failed, 2 when the command line makes no sense.
 *
 * What it costs itself, against ack-server.ts on two cores that were busy with other work, 200 streams flat out, best
 * of 3: real builds 2.5 us of CPU per event with all calls and connections (at 170,000 events/s); tiny builds 12 us per
 * event, about 0.5 ms per build, since a build is a TCP connection and five round trips. A connection with five round
 * trips over bare node:net, nothing else, was 0.17 ms there, 0.09 of them in the kernel. `generatorCpuMicrosPerEvent`
 * tells it for each run; `generatorLoopDelayP99Ms` far above 0 means that the generator was late itself.
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
