/** Cuts the power under a Millrace and proves that what it acknowledged is there: `pnpm bench power-cut [options]`. */
import { UsageError } from "../load/load-plan.ts";
import { appendResult } from "../scenario/result-file.ts";
import { isSound } from "../scenario/result-line.ts";
import { type PowerCutCommand, parsePowerCutCommand, usage } from "./command.ts";
import { runPowerCut } from "./run-power-cut.ts";

function commandOf(args: readonly string[]): PowerCutCommand {
  if (args.includes("--help")) {
    console.log(usage);
    process.exit(0);
  }
  try {
    return parsePowerCutCommand(args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}\n\n${usage}`);
    process.exit(2);
  }
}

const command = commandOf(process.argv.slice(2));
const line = await runPowerCut(command, (text) => console.error(`power-cut: ${text}`));
if (command.records) appendResult(line);
console.log(JSON.stringify(line));
process.exit(isSound(line) ? 0 : 1);
