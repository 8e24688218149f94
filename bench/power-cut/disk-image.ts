import { execFileSync } from "node:child_process";
import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import path from "node:path";
import { delay, systemClock } from "@millrace/base/clock";

/** A disk of its own, whose power can be cut: ext4 in a file, by the loop device. Needs root, Linux and Python. */
export interface DiskImage {
  /** Where it is mounted. */
  readonly directory: string;
  /** Everything that was not synced is gone, as far as the file system is concerned; all that writes to it fails. */
  cut(): void;
  /** Mounts it again as it is on the disk. Whatever had files open there must be dead. */
  restore(): Promise<void>;
  /** Unmounts and removes it. */
  remove(): Promise<void>;
}

/**
 * EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH (fs/ext4/ext4.h): not even the journal is flushed. Node has no
 * ioctl, hence Python.
 */
const shutdown = `
import fcntl, os, struct, sys
fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587D, struct.pack("I", 2))
`;

const unmountMaxMs = 30_000;
const pollDelayMs = 50;

/** Makes one of `bytes` (sparse) in `parent`, an existing directory. */
export function createDiskImage(parent: string, bytes: number): DiskImage {
  const file = path.join(parent, "disk.img");
  const directory = path.join(parent, "disk");
  writeFileSync(file, "");
  truncateSync(file, bytes);
  mkdirSync(directory);
  run("mkfs.ext4", ["-q", "-m", "0", file]);
  const mount = (): void => run("mount", ["-o", "loop", file, directory]);
  mount();
  return {
    directory,
    cut: () => run("python3", ["-c", shutdown, directory]),
    restore: async () => {
      await unmount(directory);
      mount();
    },
    remove: async () => {
      await unmount(directory);
      await rm(file);
    },
  };
}

/** The last process that has a file open there may need a moment to end. */
async function unmount(directory: string): Promise<void> {
  const untilMs = systemClock.monotonic() + unmountMaxMs;
  for (;;) {
    try {
      return run("umount", [directory]);
    } catch (error) {
      if (systemClock.monotonic() > untilMs) throw error;
      await delay(systemClock, pollDelayMs);
    }
  }
}

function run(program: string, args: readonly string[]): void {
  execFileSync(program, args, { stdio: ["ignore", "ignore", "pipe"] });
}
