import { type Clock, every } from "@millrace/base/clock";
import type { Stoppable } from "@millrace/base/lifecycle";
import type { Bus } from "@millrace/proto/bus";
import { signalWakeChannel } from "@millrace/proto/channels";

/** How often a process that is not alone looks by itself: a wake-up may be lost. */
const fallbackMs = 5_000;
/** A process that was not heard of for so long is not counted on; it says so itself when it stops. */
const peerSilenceMsMax = 10 * 60_000;
/** Processes tell each other that they are there. */
const greetingMs = 120_000;

/** Tells the other processes that something was published, and is told by them. */
export interface Waking extends Stoppable {
  published(): void;
  /** A queue was configured here, or a gate opened. */
  configured(): void;
  /** Other processes that were heard of. */
  readonly peers: number;
}

export interface WakingWorld {
  readonly self: string;
  readonly clock: Clock;
  /** Something may be due. */
  wake(): void;
  /** Queues may be configured otherwise. */
  reload(): void;
}

/**
 * Wakes `wake` when another process has published, and has queues read again when another one has configured some. What
 * is done here needs no NATS. A lost word is made good by a look every 5 s, which only happens while there are other
 * processes.
 */
export function startWaking(bus: Bus, world: WakingWorld): Waking {
  const { self, clock, wake, reload } = world;
  const heardAtMs = new Map<string, number>();
  const say = (kind: "published" | "configured" | "hello" | "here" | "bye"): void =>
    bus.publish(signalWakeChannel, { subject: signalWakeChannel.name, message: { from: self, kind } });
  const subscription = bus.subscribe(signalWakeChannel, signalWakeChannel.name, ({ from, kind }) => {
    if (from === self) return;
    if (kind === "bye") heardAtMs.delete(from);
    else heardAtMs.set(from, clock.monotonic());
    if (kind === "hello") say("here");
    if (kind === "configured") reload();
    wake();
  });
  const stopLooking = every(clock, fallbackMs, () => {
    for (const [peer, atMs] of heardAtMs) {
      if (clock.monotonic() - atMs > peerSilenceMsMax) heardAtMs.delete(peer);
    }
    if (heardAtMs.size === 0) return;
    reload();
    wake();
  });
  const stopGreeting = every(clock, greetingMs, () => {
    if (heardAtMs.size > 0) say("here");
  });
  say("hello");
  return {
    name: "waking",
    published: () => {
      wake();
      if (heardAtMs.size > 0) say("published");
    },
    configured: () => {
      reload();
      wake();
      if (heardAtMs.size > 0) say("configured");
    },
    get peers() {
      return heardAtMs.size;
    },
    stop: async () => {
      stopLooking();
      stopGreeting();
      say("bye");
      await subscription.stop();
    },
  };
}
