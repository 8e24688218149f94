import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";

/** `pnpm bench NAME …`: runs `bench/NAME/main.ts` with the rest of the arguments. */
const [name = "", ...args] = process.argv.slice(2);
const main = path.join(import.meta.dirname, name, "main.ts");
if (name === "" || !existsSync(main)) {
  const names = readdirSync(import.meta.dirname).filter((one) =>
    existsSync(path.join(import.meta.dirname, one, "main.ts")),
  );
  console.error(`usage: pnpm bench ${names.join("|")} [arguments]`);
  process.exit(2);
}
process.exit(spawnSync(process.execPath, [main, ...args], { stdio: "inherit" }).status ?? 1);
