/**
 * What the front door alone costs: CPU of its main thread per event, with a worker thread that acknowledges at once
 * and a generator in a process of its own that keeps a window of unacknowledged events open.
 *
 *   node bench/isolated/front-door.ts [connections 10] [bytes 300] [seconds 5] [direct|plain]
 *
 * 2 cores, generator included, with other work going on: see docs and commit messages for figures.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:http2";
import type { MessagePort } from "node:worker_threads";
import { delay, systemClock } from "@millrace/base/clock";
import { silentLog } from "@millrace/base/log";
import { request } from "../../packages/actors/src/front-door/bes-messages.fixture.ts";
import { TestDoor } from "../../packages/actors/src/front-door/door.fixture.ts";
import { piscinaThreads } from "../../packages/actors/src/front-door/piscina-threads.ts";
import { eventOverheadBytes, metaStride, type ToThread } from "../../packages/actors/src/thread-messages.ts";

const unackedMax = 5_000;
const warmUpMs = 2_000;

interface Plan {
  readonly connections: number;
  readonly bytes: number;
  readonly seconds: number;
  readonly isDirect: boolean;
}

/** The task of the worker thread: acknowledges every event at the end of the turn that brought it. */
export default function acknowledge({ port }: { port: MessagePort }): Promise<void> {
  return new Promise((resolve) => {
    port.on("message", (message: ToThread) => {
      if (message.kind === "drain") return resolve();
      if (message.kind !== "events") return;
      const totals = new Map<number, { to: number; released: number }>();
      const { meta } = message;
      for (let at = 0; at < meta.length; at += metaStride) {
        const connection = meta[at] as number;
        const total = totals.get(connection) ?? { to: 0, released: 0 };
        total.to = meta[at + 1] as number;
        total.released += (meta[at + 2] as number) + eventOverheadBytes;
        totals.set(connection, total);
      }
      const entries = [...totals].flatMap(([connection, { to, released }]) => [connection, to, released]);
      port.postMessage({ kind: "acks", entries: Float64Array.from(entries) });
    });
  });
}

/** One connection that sends as fast as acknowledgements come back. */
function load(port: number, at: { nth: number; bytes: number }): void {
  const invocationId = `bench-${process.pid}-${at.nth}`;
  const session = connect(`http://127.0.0.1:${port}`);
  const stream = session.request({
    ":method": "POST",
    ":path": "/google.devtools.build.v1.PublishBuildEvent/PublishBuildToolEventStream",
    "content-type": "application/grpc",
    te: "trailers",
  });
  let sent = 0;
  let acked = 0;
  let rest: Buffer = Buffer.alloc(0);
  const pump = (): void => {
    if (stream.writableNeedDrain) return;
    const count = Math.min(200, unackedMax - (sent - acked));
    if (count <= 0) return;
    const pieces: Buffer[] = [];
    for (let nth = 0; nth < count; nth += 1) {
      sent += 1;
      const message = request({ invocationId, sequence: sent, payloadBytes: at.bytes });
      const prefix = Buffer.alloc(5);
      prefix.writeUInt32BE(message.length, 1);
      pieces.push(prefix, message);
    }
    if (stream.write(Buffer.concat(pieces))) setImmediate(pump);
  };
  stream.on("drain", pump);
  stream.on("data", (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let offset = 0;
    while (offset + 5 <= rest.length && offset + 5 + rest.readUInt32BE(offset + 1) <= rest.length) {
      offset += 5 + rest.readUInt32BE(offset + 1);
      acked += 1;
    }
    rest = rest.subarray(offset);
    pump();
  });
  pump();
}

async function serve(plan: Plan): Promise<void> {
  const workers = piscinaThreads({ file: new URL(import.meta.url), threads: 1, log: silentLog });
  const door = await TestDoor.open({ run: workers.run, ...(plan.isDirect ? {} : { reach: false }) });
  const generator = fork(new URL(import.meta.url), [
    "generate",
    String(door.port),
    String(plan.connections),
    String(plan.bytes),
  ]);
  await delay(systemClock, warmUpMs);
  const from = sample(door);
  await delay(systemClock, plan.seconds * 1_000);
  const to = sample(door);
  await stop(generator);
  const events = to.events - from.events;
  const perEvent = (us: number): string => (us / events).toFixed(2);
  console.log(
    JSON.stringify({
      ...plan,
      eventsPerSecond: Math.round(events / ((to.at - from.at) / 1_000)),
      mainThreadCpuUsPerEvent: perEvent(to.mainCpuUs - from.mainCpuUs),
      processCpuUsPerEvent: perEvent(to.processCpuUs - from.processCpuUs),
      eventsPerArena: Math.round(events / (to.arenas - from.arenas)),
    }),
  );
  process.exit(0);
}

function sample(door: TestDoor) {
  const main = process.threadCpuUsage();
  const whole = process.cpuUsage();
  return {
    at: systemClock.monotonic(),
    events: door.pool.counters.events,
    arenas: door.pool.counters.arenas,
    mainCpuUs: main.user + main.system,
    processCpuUs: whole.user + whole.system,
  };
}

async function stop(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  await once(child, "exit");
}

async function main(): Promise<void> {
  const [first, ...others] = process.argv.slice(2);
  if (first === "generate") {
    const [port, connections, bytes] = others.map(Number);
    for (let nth = 0; nth < (connections ?? 1); nth += 1) load(port ?? 0, { nth, bytes: bytes ?? 300 });
    return;
  }
  const [connections = 10, bytes = 300, seconds = 5] = process.argv.slice(2, 5).map(Number);
  await serve({ connections, bytes, seconds, isDirect: process.argv[5] !== "plain" });
}

if (process.argv[1] !== undefined && import.meta.filename === process.argv[1]) await main();
