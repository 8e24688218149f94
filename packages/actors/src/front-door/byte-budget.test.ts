import { describe, expect, it } from "vitest";
import { ByteBudget, type StreamAccount } from "./byte-budget.ts";

const KiB = 1024;
const MiB = 1024 * KiB;
const limits = {
  streamBytesMax: 4 * MiB,
  projectBytesMax: 384 * MiB,
  sharedBytesMax: 4096 * MiB,
  processBytesMax: 512 * MiB,
  largeBytesMax: 192 * MiB,
};
const overhead = 256;

interface Stream {
  readonly account: StreamAccount;
  resumed: number;
  shed: number;
}

function world(changed: Partial<typeof limits> = {}) {
  const budget = new ByteBudget({ ...limits, ...changed });
  let connections = 0;
  const open = (project = "default"): Stream => {
    const stream = { resumed: 0, shed: 0 } as { resumed: number; shed: number; account: StreamAccount };
    connections += 1;
    stream.account = budget.open({
      connection: connections,
      project,
      holder: {
        resume: () => {
          stream.resumed += 1;
        },
        shed: () => {
          stream.shed += 1;
          budget.close(stream.account);
        },
      },
    });
    return stream;
  };
  /** Receives a whole message that is nothing but its event; false when it has to wait. */
  const receive = (stream: Stream, bytes: number): boolean => {
    if (!budget.admit(stream.account, bytes)) return false;
    budget.settle(stream.account, bytes);
    return true;
  };
  const fill = (stream: Stream, bytes: number, each: number): void => {
    for (let at = 0; at < bytes; at += each) expect(receive(stream, each - overhead)).toBe(true);
  };
  return { budget, open, receive, fill };
}

describe("a stream's bound", () => {
  it("is exact, and counts 256 bytes for every event", () => {
    const { budget, open, receive, fill } = world();
    const stream = open();
    fill(stream, 4 * MiB, 1 * KiB);
    expect(stream.account.inFlight).toBe(4 * MiB);
    expect(receive(stream, 0)).toBe(false);
    budget.release(stream.account, 1 * KiB);
    expect(stream.resumed).toBe(1);
    expect(receive(stream, 0)).toBe(true);
    expect(budget.inFlight).toBe(4 * MiB - 1 * KiB + overhead);
  });

  it("lets one larger message in alone", () => {
    const { budget, open, receive } = world();
    const stream = open();
    expect(receive(stream, 97 * MiB)).toBe(true);
    expect(receive(stream, 1)).toBe(false);
    budget.release(stream.account, 97 * MiB + overhead);
    expect(stream.resumed).toBe(1);
    expect(receive(stream, 1)).toBe(true);
    expect(receive(stream, 97 * MiB)).toBe(false);
  });

  it("does not wake a stream whose message still does not fit", () => {
    const { budget, open, receive, fill } = world();
    const stream = open();
    fill(stream, 4 * MiB, 1 * KiB);
    expect(receive(stream, 2 * KiB)).toBe(false);
    budget.release(stream.account, 1 * KiB);
    budget.release(stream.account, 1 * KiB);
    expect(stream.resumed).toBe(0);
    budget.release(stream.account, 1 * KiB);
    expect(stream.resumed).toBe(1);
  });

  it("gives back what a message holds beside its event", () => {
    const { budget, open } = world();
    const stream = open();
    expect(budget.admit(stream.account, 1_000)).toBe(true);
    expect(budget.inFlight).toBe(1_000 + overhead);
    budget.settle(stream.account, 900);
    expect(budget.inFlight).toBe(900 + overhead);
  });
});

describe("the gate of large messages", () => {
  it("lets two of 97 MB through at once and the others in order", () => {
    const { budget, open, receive } = world({ processBytesMax: 4096 * MiB, projectBytesMax: 4096 * MiB });
    const streams = Array.from({ length: 20 }, () => open());
    const size = 97_000_000;
    const admitted = streams.map((stream) => receive(stream, size));
    expect(admitted.filter(Boolean)).toHaveLength(2);
    for (let next = 2; next < streams.length; next += 1) {
      const done = streams[next - 2] as Stream;
      budget.release(done.account, size + overhead);
      const woken = streams.filter((stream) => stream.resumed > 0);
      expect(woken).toHaveLength(next - 1);
      expect(receive(streams[next] as Stream, size)).toBe(true);
      expect(budget.largeInFlight).toBeLessThanOrEqual(192 * MiB);
    }
  });

  it("does not let a smaller one overtake", () => {
    const { budget, open, receive } = world();
    const [first, second, third] = [open(), open(), open()];
    expect(receive(first, 150 * MiB)).toBe(true);
    expect(receive(second, 97 * MiB)).toBe(false);
    expect(receive(third, 2 * MiB)).toBe(false);
    budget.release(first.account, 150 * MiB + overhead);
    expect([second.resumed, third.resumed]).toEqual([1, 1]);
  });

  it("does not hold up small messages", () => {
    const { open, receive } = world();
    expect(receive(open(), 190 * MiB)).toBe(true);
    expect(receive(open(), 3 * MiB)).toBe(false);
    expect(receive(open(), 1 * KiB)).toBe(true);
  });

  it("is free again when a large event is released, though newer events of the stream are not", () => {
    const { budget, open, receive } = world();
    const stream = open();
    // The message around the event is larger than the event.
    expect(budget.admit(stream.account, 2 * MiB)).toBe(true);
    budget.settle(stream.account, 2 * MiB - 100);
    expect(receive(stream, 1 * KiB)).toBe(true);
    budget.release(stream.account, 2 * MiB - 100 + overhead);
    expect(budget.largeInFlight).toBe(0);
    expect(stream.account.inFlight).toBe(1 * KiB + overhead);
  });

  it("is free again when the connection breaks in the middle of a message", () => {
    const { budget, open, receive } = world();
    const [first, second] = [open(), open()];
    expect(budget.admit(first.account, 150 * MiB)).toBe(true);
    expect(receive(second, 97 * MiB)).toBe(false);
    budget.close(first.account);
    expect(second.resumed).toBe(1);
    expect(budget.inFlight).toBe(97 * MiB + overhead);
    expect(budget.largeInFlight).toBe(97 * MiB + overhead);
  });

  it("is not blocked by one that its own project holds back", () => {
    const { open, receive } = world({ projectBytesMax: 100 * MiB });
    expect(receive(open("a"), 90 * MiB)).toBe(true);
    expect(receive(open("a"), 20 * MiB)).toBe(false);
    expect(receive(open("b"), 20 * MiB)).toBe(true);
  });
});

describe("a project's bound", () => {
  it("stops its own streams and no others", () => {
    const { budget, open, fill, receive } = world({ projectBytesMax: 8 * MiB });
    const [first, second, third] = [open("a"), open("a"), open("a")];
    fill(first, 4 * MiB, 64 * KiB);
    fill(second, 4 * MiB, 64 * KiB);
    expect(receive(third, 1)).toBe(false);
    fill(open("b"), 4 * MiB, 64 * KiB);
    budget.release(first.account, 64 * KiB);
    expect(third.resumed).toBe(1);
  });
});

describe("the process's bound", () => {
  const small = { processBytesMax: 16 * MiB, projectBytesMax: 64 * MiB };

  it("ends the newest large stream when a large one asks for more", () => {
    const { budget, open, fill, receive } = world(small);
    const streams = [open(), open(), open(), open(), open()] as const;
    for (const stream of streams) fill(stream, 3 * MiB, 64 * KiB);
    fill(streams[0], 1 * MiB, 64 * KiB);
    expect(budget.inFlight).toBe(16 * MiB);
    expect(receive(streams[1], 1)).toBe(false);
    expect(streams.map((stream) => stream.shed)).toEqual([0, 0, 0, 0, 1]);
    // Its memory is on its way: nobody else has to go.
    expect(receive(streams[2], 1)).toBe(false);
    expect(streams.map((stream) => stream.shed)).toEqual([0, 0, 0, 0, 1]);
    budget.release(streams[4].account, 3 * MiB);
    expect(streams.map((stream) => stream.resumed)).toEqual([0, 1, 1, 0, 0]);
  });

  it("admits at once when what the ended stream was receiving is enough", () => {
    const { budget, open, fill } = world(small);
    const streams = [open(), open(), open(), open(), open()] as const;
    for (const stream of streams) fill(stream, 3 * MiB, 64 * KiB);
    expect(budget.admit(streams[4].account, 1 * MiB - overhead)).toBe(true);
    expect(budget.admit(streams[0].account, 100)).toBe(true);
    expect(streams[4].shed).toBe(1);
  });

  it("ends the one that asks when it is the newest", () => {
    const { open, fill, receive } = world(small);
    const streams = [open(), open(), open(), open(), open()] as const;
    for (const stream of streams.slice(0, 4)) fill(stream, 3.75 * MiB, 64 * KiB);
    expect(receive(streams[4], 2 * MiB)).toBe(false);
    expect(streams.map((stream) => stream.shed)).toEqual([0, 0, 0, 0, 1]);
  });

  it("makes a stream with little in memory wait and ends nobody", () => {
    const { budget, open, fill, receive } = world(small);
    const streams = [open(), open(), open(), open()] as const;
    for (const stream of streams) fill(stream, 4 * MiB, 64 * KiB);
    const late = open();
    expect(receive(late, 1 * KiB)).toBe(false);
    expect(streams.map((stream) => stream.shed)).toEqual([0, 0, 0, 0]);
    budget.release(streams[2].account, 64 * KiB);
    expect(late.resumed).toBe(1);
  });
});

describe("a closed stream", () => {
  it("stays charged until its events are released", () => {
    const { budget, open, receive } = world();
    const stream = open();
    receive(stream, 1_000);
    budget.close(stream.account);
    expect(budget.inFlight).toBe(1_000 + overhead);
    budget.release(stream.account, 1_000 + overhead);
    expect(budget.inFlight).toBe(0);
  });

  it("is forgotten at once when whoever had its events is gone", () => {
    const { budget, open, receive } = world();
    const stream = open();
    receive(stream, 1_000);
    budget.admit(stream.account, 50);
    budget.forget(stream.account);
    expect(budget.inFlight).toBe(0);
  });

  it("is not woken any more", () => {
    const { budget, open, fill, receive } = world({ projectBytesMax: 4 * MiB });
    const [first, second] = [open(), open()];
    fill(first, 4 * MiB, 64 * KiB);
    expect(receive(second, 1)).toBe(false);
    budget.close(second.account);
    budget.release(first.account, 64 * KiB);
    expect(second.resumed).toBe(0);
    expect(budget.waitingStreams).toBe(0);
  });
});

describe("release", () => {
  it("of more than was taken is a bug", () => {
    const { budget, open, receive } = world();
    const stream = open();
    receive(stream, 10);
    expect(() => budget.release(stream.account, 10 + overhead + 1)).toThrow(/no more is released/);
  });
});

describe("the share of a stream", () => {
  it("is its bound while few streams have events in memory, idle ones do not count", () => {
    const { open, receive, fill } = world({ sharedBytesMax: 8 * MiB });
    const [one, two] = [open(), open()];
    for (let nth = 0; nth < 100; nth += 1) open();
    fill(one, 4 * MiB, 1 * KiB);
    fill(two, 4 * MiB, 1 * KiB);
    expect([receive(one, 0), receive(two, 0)]).toEqual([false, false]);
  });

  it("shrinks with every stream that has events in memory", () => {
    const { open, receive, fill } = world({ sharedBytesMax: 8 * MiB });
    const streams = Array.from({ length: 8 }, () => open());
    for (const stream of streams) fill(stream, 1 * KiB, 1 * KiB);
    const [first] = streams;
    if (first === undefined) throw new Error("there are eight");
    fill(first, 1 * MiB - 1 * KiB, 1 * KiB);
    expect(receive(first, 0)).toBe(false);
  });

  it("is never below 64 KiB", () => {
    const { open, receive, fill } = world({ sharedBytesMax: 1 });
    const stream = open();
    fill(stream, 64 * KiB, 1 * KiB);
    expect(receive(stream, 0)).toBe(false);
  });

  it("grows again when others are released", () => {
    const { budget, open, receive, fill } = world({ sharedBytesMax: 2 * MiB });
    const [one, two] = [open(), open()];
    fill(two, 1 * KiB, 1 * KiB);
    fill(one, 1 * MiB, 1 * KiB);
    expect(receive(one, 0)).toBe(false);
    budget.release(two.account, two.account.inFlight);
    budget.release(one.account, 1 * KiB);
    expect(one.resumed).toBe(1);
    expect(receive(one, 0)).toBe(true);
    fill(one, 512 * KiB, 1 * KiB);
  });
});
