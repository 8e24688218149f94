import { execFile } from "node:child_process";
import { constants, openSync, unlinkSync } from "node:fs";
import { Socket } from "node:net";
import { promisify } from "node:util";
import { errorText } from "@millrace/base/errors";
import { FrameSplitter } from "@millrace/proto/bep/frames";
import { frameBytesMax } from "./bep-file.ts";
import type { Capture } from "./capture.ts";
import { EventFile } from "./event-file.ts";

/**
 * Bazel writes to a named pipe; what comes is on disk and reduced at once. The pipe is opened for reading and writing, so
 * neither side waits for the other to appear and no reader ever sees a false end; the end is the end of Bazel.
 * Fails where there are no named pipes: the caller then takes the file.
 */
export async function fifoCapture(at: { pipe: string; events: string }): Promise<Capture> {
  await promisify(execFile)("mkfifo", ["-m", "600", at.pipe]);
  const fd = openSync(at.pipe, constants.O_RDWR | constants.O_NONBLOCK);
  const socket = new Socket({ fd, readable: true, writable: false });
  const file = new EventFile(at.events);
  const splitter = new FrameSplitter({ messageBytesMax: frameBytesMax });
  let fault = "";
  let received = 0;
  socket.on("data", (chunk: Buffer) => {
    received += 1;
    try {
      file.append(chunk);
    } catch (error) {
      fault = errorText(error);
    }
    if (fault !== "") return;
    for (const frame of splitter.push(chunk)) {
      if (frame.kind === "frame") file.reducer.accept(frame.bytes);
      else fault = frame.message;
    }
  });
  socket.on("error", (error) => {
    fault = errorText(error);
  });
  return {
    target: { kind: "file", path: at.pipe },
    reducer: file.reducer,
    get bytes() {
      return file.bytes;
    },
    get fault() {
      return fault;
    },
    advance: async () => {},
    finish: async () => {
      await drained(() => received);
      socket.destroy();
      file.close();
      unlinkSync(at.pipe);
      const broken = splitter.end();
      if (broken !== undefined && fault === "") fault = broken.message;
    },
  };
}

/** What Bazel wrote is in the pipe when it ends; it has all been read when turns of the event loop bring nothing more. */
async function drained(received: () => number): Promise<void> {
  for (let quiet = 0, before = received(); quiet < quietTurns; ) {
    await new Promise<void>((resolve) => setImmediate(resolve));
    const now = received();
    quiet = now === before ? quiet + 1 : 0;
    before = now;
  }
}

// One poll of the pipe per turn; more than one for a read that was under way.
const quietTurns = 8;
