/** Measures Millrace in a scenario: `pnpm bench flat|real|huge|paced|idle|log [options]` (bench/README.md). */
import { UsageError } from "../load/load-plan.ts";
import { parseScenarioCommand, type ScenarioCommand, usage } from "./command.ts";
import { medianFigures } from "./figures.ts";
import { appendResult } from "./result-file.ts";
import { isSound, type ResultLine } from "./result-line.ts";
import { runScenario } from "./run-scenario.ts";

function commandOf(args: readonly string[]): ScenarioCommand {
  if (args.includes("--help")) {
    console.log(usage);
    process.exit(0);
  }
  try {
    return parseScenarioCommand(args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}\n\n${usage}`);
    process.exit(2);
  }
}

const command = commandOf(process.argv.slice(2));
const lines: ResultLine[] = [];
for (let run = 1; run <= command.runs; run += 1) {
  const line = await runScenario(command, (text) => console.error(`${command.scenario} ${run}: ${text}`));
  lines.push(line);
  if (command.records) appendResult(line);
  console.log(JSON.stringify(line));
}
if (command.runs > 1) {
  const { scenario } = command;
  console.log(JSON.stringify({ scenario, medianOf: command.runs, ...medianFigures(lines) }));
}
process.exit(lines.every(isSound) ? 0 : 1);
