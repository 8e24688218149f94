import { chmodSync, existsSync } from "node:fs";
import type { BepReducer } from "../reduce/bep-reducer.ts";
import type { BepTarget } from "../run/command-line.ts";
import { fileMode } from "../store/private-file.ts";
import { BepFile } from "./bep-file.ts";

/** How the build events of one command reach `events.bep` and the reducer. Bytes are on disk before they are reduced. */
export interface Capture {
  /** What Bazel is told. */
  readonly target: BepTarget;
  readonly reducer: BepReducer;
  readonly bytes: number;
  readonly fault: string;
  /** Takes in what has come so far. */
  advance(): Promise<void>;
  /** Bazel has ended: takes in the rest and lets go of everything. */
  finish(): Promise<void>;
}

/** Bazel writes the file itself; we read it when somebody asks, and at the end. */
export function tailCapture(path: string): Capture {
  const source = new BepFile(path);
  return {
    target: { kind: "file", path },
    reducer: source.reducer,
    get bytes() {
      return source.bytes;
    },
    get fault() {
      return source.fault;
    },
    advance: () => source.advance(),
    finish: async () => {
      // Bazel's server makes it with the user's umask.
      if (existsSync(path)) chmodSync(path, fileMode);
      await source.finish();
    },
  };
}

/** For commands without events. */
export function noCapture(): Capture {
  const { reducer } = new BepFile("");
  return {
    ...{ target: { kind: "none" }, reducer, bytes: 0, fault: "" },
    advance: async () => {},
    finish: async () => {},
  };
}
