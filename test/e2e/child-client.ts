import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";

/** Runs a client of this folder in a process of its own, so that its work and memory are not the test's. */
export async function runChildClient<T>(file: string, settings: object): Promise<T> {
  const program = path.join(import.meta.dirname, file);
  const done = await promisify(execFile)(process.execPath, [program, JSON.stringify(settings)], {
    maxBuffer: 16 << 20,
    timeout: 280_000,
  });
  return JSON.parse(done.stdout) as T;
}
