import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@millrace/base/clock";
import { MillraceError } from "@millrace/base/errors";
import { systemRandom } from "@millrace/base/random";
import { openDiskStore } from "./disk-store.ts";

// Run by disk-full.test.ts on a file system of 256 KB, which is its argument.
const directory = process.argv[2] ?? "";
const store = await openDiskStore({ directory, random: systemRandom, clock: systemClock });
await store.put("p/first", new Uint8Array(100_000));
const failure = await store.put("p/second", new Uint8Array(200_000)).then(
  () => undefined,
  (error: unknown) => error,
);
const unfinished = await readdir(join(directory, "unfinished"));
const keys: string[] = [];
for await (const head of store.list("")) keys.push(head.key);
await store.delete("p/first");
const { size } = await store.put("p/second", new Uint8Array(200_000));
const told = failure instanceof MillraceError ? failure : undefined;
process.stdout.write(
  JSON.stringify({
    code: told?.code,
    remedy: told?.remedy,
    message: told?.message,
    unfinished,
    keys,
    afterFreeing: size,
  }),
);
