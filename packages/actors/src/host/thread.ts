import { delay, systemClock } from "@millrace/base/clock";
import { errorText } from "@millrace/base/errors";
import { killingFailPoints } from "@millrace/base/fail-points";
import { createLog } from "@millrace/base/log";
import { systemRandom } from "@millrace/base/random";
import { watchedZstd } from "@millrace/base/watched-zstd";
import { loadZstd } from "@millrace/base/zstd";
import { openBlobs } from "@millrace/blobs/open-blobs";
import { connectBus } from "@millrace/proto/nats-bus";
import type { FromThread, ThreadStart, ToThread } from "../thread-messages.ts";
import { largeEventProjector } from "./large-event-pool.ts";
import { ThreadHost } from "./thread-host.ts";

/** How long a progress text that may end in a secret waits for the next one. */
const heldDelayMs = 1_000;

/** A codec that has not come to an end by then is left behind. */
const endMaxMs = 2_000;

/** The long-lived task of one worker thread: it holds the mailbox port until the front door says `drain`. */
export default async function runThread({ port, settings }: ThreadStart): Promise<void> {
  const log = createLog({ name: "actors", level: settings.logLevel });
  const early: ToThread[] = [];
  port.on("message", (message: ToThread) => early.push(message));
  const [bus, zstd] = await Promise.all([
    connectBus({ servers: settings.natsUrl, name: `actors ${settings.nodeId}`, log }),
    loadZstd().then(watchedZstd),
  ]);
  const large = largeEventProjector();
  process.once("uncaughtException", (error) => {
    log.error("a thread fails", { error: errorText(error) });
    // Nothing more is heard or said: what failed is not to be trusted.
    port.close();
    void endSoftly(Promise.all([zstd.idle(), large.close()]));
  });
  const host = new ThreadHost(
    {
      bus,
      zstd,
      log,
      clock: systemClock,
      random: systemRandom,
      blobs: await openBlobs(settings.blobs, { random: systemRandom, clock: systemClock }),
      projectLarge: large.project,
      post: (message: FromThread) => port.postMessage(message),
      points: killingFailPoints(settings.failPoint),
      soon: (action) => setImmediate(action),
    },
    { nodeId: settings.nodeId, limits: { ...settings, heldDelayMs } },
  );
  const drained = new Promise<void>((resolve) => {
    const handle = (message: ToThread): void => {
      if (message.kind === "crash") throw new Error("a test has this thread fail");
      if (message.kind === "drain") void host.drain().then(resolve);
      else host.handle(message);
    };
    port.removeAllListeners("message");
    for (const message of early) handle(message);
    port.on("message", handle);
  });
  await drained;
  await large.close();
  await bus.close();
  port.close();
}

/** Ends this thread, and not the process: only when native code that would come back to it is through. */
async function endSoftly(nativeWork: Promise<unknown>): Promise<void> {
  await Promise.race([nativeWork, delay(systemClock, endMaxMs)]);
  process.exit(1);
}
