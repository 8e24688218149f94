import { type Clock, delay } from "@millrace/base/clock";
import { errorText } from "@millrace/base/errors";
import { silentLog } from "@millrace/base/log";
import { eventsChannel, heartbeatChannel } from "@millrace/proto/channels";
import type { NatsBus } from "@millrace/proto/nats-bus";
import { jetstreamManager } from "@nats-io/jetstream";
import { connectOrFail } from "../nats.ts";
import { type Check, fail, ok, warn } from "./check.ts";

/** Heartbeats come every 500 ms. */
const listenMs = 1_600;
const oldestNats = [2, 9] as const;

/** NATS and, through it, the writers. */
export async function checkNats(
  url: string,
  world: { readonly clock: Clock; readonly payloadBytesMax: number },
): Promise<Check[]> {
  let bus: NatsBus;
  try {
    bus = await connectOrFail(url, { log: silentLog, clock: world.clock });
  } catch (error) {
    return [fail("NATS", errorText(error), "Is it running? See --nats-url.")];
  }
  try {
    return [
      ...serverChecks(bus, world.payloadBytesMax),
      await streamCheck(bus),
      await writerCheck(bus, world.clock),
    ];
  } finally {
    await bus.close();
  }
}

function serverChecks(bus: NatsBus, payloadBytesMax: number): Check[] {
  const info = bus.connection.info;
  const version = info?.version ?? "unknown";
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isNewEnough = major > oldestNats[0] || (major === oldestNats[0] && minor >= oldestNats[1]);
  const checks = [
    isNewEnough
      ? ok("NATS", `version ${version}`)
      : fail("NATS", `version ${version}`, "2.9 or newer is needed."),
  ];
  const payload = info?.max_payload ?? 0;
  const found = `max_payload is ${payload} bytes`;
  if (payload >= payloadBytesMax) return [...checks, ok("NATS", found)];
  const todo =
    `Batches of up to ${payloadBytesMax} bytes would be refused: set max_payload: ${payloadBytesMax} in its ` +
    `configuration, or MILLRACE_NATS_PAYLOAD_BYTES_MAX=${payload} for the ingest process.`;
  return [...checks, fail("NATS", found, todo)];
}

async function streamCheck(bus: NatsBus): Promise<Check> {
  if (bus.connection.info?.jetstream !== true) {
    const todo =
      "Switch it on (jetstream {} in its configuration): other programs hear of builds through it.";
    return fail("JetStream", "is off", todo);
  }
  try {
    const manager = await jetstreamManager(bus.connection);
    const { state } = await manager.streams.info(eventsChannel.stream);
    return ok("JetStream", `holds ${state.messages} facts in ${eventsChannel.stream}`);
  } catch (error) {
    const found = `has no stream ${eventsChannel.stream}: ${errorText(error)}`;
    return warn(
      "JetStream",
      found,
      "A writer makes it with the first fact: normal where no build was sent yet.",
    );
  }
}

async function writerCheck(bus: NatsBus, clock: Clock): Promise<Check> {
  const writers = new Set<string>();
  const subscription = bus.subscribe(heartbeatChannel, heartbeatChannel.name, (heartbeat) => {
    if (heartbeat.writer && heartbeat.draining !== true) writers.add(heartbeat.writer);
  });
  await delay(clock, listenMs);
  await subscription.stop();
  if (writers.size === 0) {
    return fail(
      "writers",
      "none is heard: nothing is stored or acknowledged",
      "Start one, or look into their logs.",
    );
  }
  return ok("writers", `${writers.size} are heard: ${[...writers].sort().join(", ")}`);
}
