import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Each file of `commands/` is one command of `millrace`, named like the file. */
interface Command {
  /** Runs to its end and answers the exit code. */
  run(args: readonly string[]): Promise<number>;
}

const commandsDir = join(import.meta.dirname, "commands");
const [name = "help", ...args] = process.argv.slice(2);
process.exitCode = await dispatch(name, args);

async function dispatch(command: string, rest: readonly string[]): Promise<number> {
  const file = join(commandsDir, `${command}.ts`);
  if (!/^[a-z][a-z-]*$/.test(command) || !existsSync(file)) {
    console.error(`millrace: there is no command "${command}". Commands: ${commandNames().join(", ")}`);
    return 2;
  }
  const module: Command = await import(file);
  return module.run(rest);
}

function commandNames(): string[] {
  if (!existsSync(commandsDir)) return [];
  const files = readdirSync(commandsDir).filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"));
  return files.map((file) => file.slice(0, -".ts".length));
}
