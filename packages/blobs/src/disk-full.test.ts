import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";

/**
 * A file system of 256 KB, in a mount namespace of its own so that nothing is left when the test dies.
 * `tiny-disk.ts` runs inside it and prints what it saw.
 */
const directory = mkdtempSync(join(tmpdir(), "millrace-full-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const mount = `mount -t tmpfs -o size=256k tmpfs "${directory}"`;

function canMount(): boolean {
  try {
    execFileSync("unshare", ["-Urm", "sh", "-c", mount], { stdio: "ignore" });
    return true;
  } catch {
    // No user namespaces here.
    return false;
  }
}

test.skipIf(!canMount())("a full disk fails the put by name, keeps the old blobs and heals", async () => {
  const script = join(import.meta.dirname, "disk-full.fixture.ts");
  const command = `${mount} && exec "${process.execPath}" "${script}" "${directory}"`;
  const { stdout } = await promisify(execFile)("unshare", ["-Urm", "sh", "-c", command]);
  expect(JSON.parse(stdout)).toEqual({
    code: "blob-disk-full",
    remedy: "retry",
    message: expect.stringContaining("free space"),
    unfinished: [],
    keys: ["p/first"],
    afterFreeing: 200_000,
  });
});
