import type { Metrics } from "@millrace/base/metrics";
import type { FrontDoor } from "./front-door.ts";
import type { ThreadPool } from "./thread-pool.ts";

/** Name behind `millrace_front_door_`, help text, and where the number stands. */
type Row = readonly [name: string, help: string, read: () => number];

/**
 * The front door's numbers as Prometheus sees them. They are plain numbers in the code that counts and are copied
 * when somebody asks; `refresh` does that.
 */
export function frontDoorMetrics(
  metrics: Metrics,
  of: { door: FrontDoor; threads: ThreadPool },
): { refresh: () => void } {
  const copies = [
    ...[...streamTotals(of.door), ...callTotals(of.door), ...threadTotals(of.threads)].map(copyTotal),
    ...gauges(of.door).map(copyGauge),
    copyEndings(metrics, of.door),
    copyThreadNumbers(metrics, of.threads),
  ];
  return {
    refresh: () => {
      for (const copy of copies) copy();
    },
  };

  function copyTotal([name, help, read]: Row): () => void {
    const counter = metrics.counter(`millrace_front_door_${name}_total`, help);
    let seen = 0;
    return () => {
      const now = read();
      counter.inc(now - seen);
      seen = now;
    };
  }

  function copyGauge([name, help, read]: Row): () => void {
    const gauge = metrics.gauge(`millrace_front_door_${name}`, help);
    return () => gauge.set(read());
  }
}

function streamTotals({ streams }: FrontDoor): Row[] {
  const { counters } = streams;
  return [
    ["streams", "Build event streams that were opened.", () => counters.opened],
    ["streams_broken", "Streams whose client went away.", () => counters.brokenOff],
    ["acks", "Acknowledgements written.", () => counters.acks],
  ];
}

function callTotals(door: FrontDoor): Row[] {
  const lifecycle = door.lifecycle.counters;
  const keys = door.keys.counters;
  return [
    ["lifecycle_recorded", "Lifecycle calls that the writers have recorded.", () => lifecycle.recorded],
    ["lifecycle_unanswered", "Lifecycle calls answered OK without them.", () => lifecycle.unanswered],
    ["lifecycle_refused", "Lifecycle calls with a wrong key or body.", () => lifecycle.refused],
    ["key_lookups", "Questions to the writers about API keys.", () => keys.asked],
    ["key_lookups_unanswered", "Such questions that nobody answered.", () => keys.unanswered],
    ["keys_refused", "Calls with an unknown key or without the scope.", () => keys.refused],
  ];
}

function threadTotals(threads: ThreadPool): Row[] {
  const { counters } = threads;
  return [
    ["events", "Events handed to worker threads.", () => counters.events],
    ["event_bytes", "Bytes of these events.", () => counters.eventBytes],
    ["arenas", "Messages to worker threads that carried events.", () => counters.arenas],
    ["large_events", "Events above 1 MB, sent alone.", () => counters.largeEvents],
    ["thread_restarts", "Worker threads that died and were started again.", () => threads.restarts],
  ];
}

function gauges({ streams, budget }: FrontDoor): Row[] {
  return [
    ["open_streams", "Build event streams that are open.", () => streams.size],
    ["in_flight_bytes", "Bytes of events received and not released.", () => budget.inFlight],
    ["large_in_flight_bytes", "Of these, in messages above 1 MB.", () => budget.largeInFlight],
    ["waiting_streams", "Streams that wait for others' memory.", () => budget.waitingStreams],
  ];
}

function copyEndings(metrics: Metrics, door: FrontDoor): () => void {
  const name = "millrace_front_door_streams_ended_total";
  const counter = metrics.counter(name, "Streams ended from this side, by gRPC status.", ["status"]);
  const seen = new Map<number, number>();
  return () => {
    for (const [status, count] of door.streams.endedBy) {
      counter.inc({ status: String(status) }, count - (seen.get(status) ?? 0));
      seen.set(status, count);
    }
  };
}

/** What the threads say about themselves, under the names that they use; starts at 0 when a thread restarts. */
function copyThreadNumbers(metrics: Metrics, threads: ThreadPool): () => void {
  const help = "Counters of a worker thread since its start.";
  const gauge = metrics.gauge("millrace_thread", help, ["thread", "name"]);
  return () => {
    threads.threadCounters.forEach((counters, thread) => {
      for (const [name, value] of Object.entries(counters)) {
        gauge.set({ thread: String(thread), name }, value);
      }
    });
  };
}
