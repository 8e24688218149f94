/** Breaks Millrace in turn while builds are uploaded, and proves that nothing is lost: `pnpm bench chaos [options]`. */
import { UsageError } from "../load/load-plan.ts";
import { appendResult } from "../scenario/result-file.ts";
import { type ChaosCommand, parseChaosCommand, usage } from "./command.ts";
import { runChaos } from "./run-chaos.ts";

function commandOf(args: readonly string[]): ChaosCommand {
  if (args.includes("--help")) {
    console.log(usage);
    process.exit(0);
  }
  try {
    return parseChaosCommand(args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}\n\n${usage}`);
    process.exit(2);
  }
}

const command = commandOf(process.argv.slice(2));
const line = await runChaos(command, (text) => console.error(`chaos: ${text}`));
if (command.records) appendResult(line);
console.log(JSON.stringify(line));
process.exit(line.oracle === "clean" && line.failed === 0 ? 0 : 1);
