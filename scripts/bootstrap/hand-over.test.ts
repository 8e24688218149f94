import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";

/** A process that hands over to the Node program `program`, as the set-up does in the end. */
function handOverTo(program: string): ChildProcess {
  const starter = `
    import { endLike, handOver } from ${JSON.stringify(join(import.meta.dirname, "hand-over.mjs"))};
    endLike(await handOver(process.execPath, ["-e", process.argv[1]]));
  `;
  return spawn(process.execPath, ["--input-type=module", "-e", starter, program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error("no output");
  const [line] = await once(createInterface({ input: child.stdout }), "line");
  return String(line);
}

test("the exit code is the program's own", async () => {
  const [code, signal] = await once(handOverTo("process.exit(7)"), "exit");
  expect([code, signal]).toEqual([7, null]);
});

test("a program that dies of a signal makes us die of it", async () => {
  const [code, signal] = await once(handOverTo("process.kill(process.pid, 'SIGKILL')"), "exit");
  expect([code, signal]).toEqual([null, "SIGKILL"]);
});

test("signals reach the program, which may take its time", async () => {
  const program = `
    process.on("SIGTERM", () => { console.log("drained"); process.exit(3); });
    console.log("ready");
    setInterval(() => {}, 1000);
  `;
  const child = handOverTo(program);
  expect(await firstLine(child)).toBe("ready");
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  expect(await ended).toEqual([3, null]);
});
