import { join } from "node:path";
import { installDependencies } from "./dependencies.mjs";
import { SetUpFailure } from "./failure.mjs";
import { endLike, handOver } from "./hand-over.mjs";
import { ensureLibatomic } from "./libatomic.mjs";
import { withLock } from "./lock.mjs";
import { ensureNatsServer } from "./nats-server.mjs";
import { checkout, stateDir } from "./paths.mjs";
import { ensurePostgres } from "./postgres.mjs";
import { say } from "./progress.mjs";
import { findRuntime } from "./runtime.mjs";
import { ensureUi } from "./ui.mjs";
import { ensureZstdAddon } from "./zstd-addon.mjs";

const cliMain = join(checkout, "packages", "cli", "src", "main.ts");
const vitest = join(checkout, "node_modules", "vitest", "vitest.mjs");
const closingLine = join(checkout, "scripts", "closing-line-reporter.mjs");

/**
 * Sets up what `command` needs and runs it: `start` is `millrace up`, `test` is vitest, `cli` is any command of
 * `millrace`.
 * @param {string} command
 * @param {readonly string[]} args
 */
export async function main(command, args) {
  try {
    const plan = planOf(command, args);
    const lock = join(stateDir, "set-up.lock");
    await withLock(lock, () => setUp(plan.needs), {
      onWait: (holder) => say(`waiting for the set-up in process ${holder}`),
    });
    endLike(await handOver(await findRuntime(), plan.args));
  } catch (error) {
    if (!(error instanceof SetUpFailure)) throw error;
    say(error.message);
    process.exitCode = 1;
  }
}

function planOf(command, args) {
  if (command === "test") {
    const reporters = ["--reporter=default", `--reporter=${closingLine}`];
    const needs = { postgres: true, nats: true, ui: true };
    return { needs, args: [vitest, "run", "--root", checkout, ...reporters, ...args] };
  }
  if (command === "start" || (command === "cli" && args[0] === "up")) {
    const ofUp = command === "start" ? args : args.slice(1);
    return { needs: needsOfUp(ofUp), args: [cliMain, "up", ...ofUp] };
  }
  if (command === "cli") return { needs: {}, args: [cliMain, ...args] };
  throw new SetUpFailure(`There is no command "${command}": it is start, test or cli.`);
}

/** Servers that run already need not be had. */
function needsOfUp(args) {
  const isGiven = (flag, variable) =>
    Boolean(process.env[variable]) || args.some((arg) => arg === flag || arg.startsWith(`${flag}=`));
  const asksOnly = args.includes("--help") || args.includes("-h");
  return {
    postgres: !asksOnly && !isGiven("--database-url", "MILLRACE_DATABASE_URL"),
    nats: !asksOnly && !isGiven("--nats-url", "MILLRACE_NATS_URL"),
    ui: !asksOnly,
  };
}

async function setUp(needs) {
  await ensureLibatomic();
  await installDependencies();
  await findRuntime();
  await ensureZstdAddon();
  if (needs.postgres) await ensurePostgres();
  if (needs.nats) await ensureNatsServer();
  if (needs.ui) await ensureUi();
}
