import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { scenarioNames } from "./scenario/scenarios.ts";

/** `pnpm bench NAME …`: runs a scenario, or `bench/NAME/main.ts`, with the rest of the arguments. */
const [name = "", ...args] = process.argv.slice(2);
const mainOf = (directory: string): string => path.join(import.meta.dirname, directory, "main.ts");
const scenario = scenarioNames.find((one) => one === name);
const command = scenario === undefined ? [mainOf(name), ...args] : [mainOf("scenario"), scenario, ...args];
if (name === "" || !existsSync(command[0] ?? "")) {
  const others = readdirSync(import.meta.dirname).filter(
    (one) => one !== "scenario" && existsSync(mainOf(one)),
  );
  console.error(`usage: pnpm bench ${[...scenarioNames, ...others].join("|")} [arguments]`);
  process.exit(2);
}
process.exit(spawnSync(process.execPath, command, { stdio: "inherit" }).status ?? 1);
