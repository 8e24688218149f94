import { describe, expect, test } from "vitest";
import { eventFrame, eventStream } from "./event-stream.ts";
import { type LiveEvent, Outbox } from "./outbox.ts";

const overflow: LiveEvent = { name: "reset", id: "0", data: {} };

function outboxOf(keysMax: number): Outbox {
  return new Outbox({
    keysMax,
    overflow,
    merge: (older, newer) => ({
      ...newer,
      data: [...(older.data as number[]), ...(newer.data as number[])],
    }),
  });
}

const event = (id: string, ...data: number[]): LiveEvent => ({ name: "state", id, data });

describe("an outbox", () => {
  test("keeps the latest of each key, merged with what was not taken", async () => {
    const outbox = outboxOf(10);
    outbox.offer("a", event("1", 1));
    outbox.offer("b", event("2", 2));
    outbox.offer("a", event("3", 3));
    expect(await outbox.take()).toEqual([event("3", 1, 3), event("2", 2)]);
    outbox.offer("a", event("4", 4));
    expect(await outbox.take()).toEqual([event("4", 4)]);
  });

  test("holds a bounded number of keys and then says: read anew", async () => {
    const outbox = outboxOf(3);
    for (let key = 0; key < 1_000; key++) {
      outbox.offer(`k${key}`, event(String(key), key));
      expect(outbox.size).toBeLessThanOrEqual(3);
    }
    const events = await outbox.take();
    expect(events?.[0]).toEqual(overflow);
  });

  test("gives what waits before it ends", async () => {
    const outbox = outboxOf(3);
    outbox.offer("a", event("1", 1));
    outbox.close();
    outbox.offer("b", event("2", 2));
    expect(await outbox.take()).toEqual([event("1", 1)]);
    expect(await outbox.take()).toBeUndefined();
  });

  test("wakes a waiting taker", async () => {
    const outbox = outboxOf(3);
    const taken = outbox.take();
    outbox.offer("a", event("1", 1));
    expect(await taken).toEqual([event("1", 1)]);
    const last = outbox.take();
    outbox.close();
    expect(await last).toBeUndefined();
  });
});

describe("an event stream", () => {
  test("writes frames that end with an empty line", () => {
    expect(eventFrame(event("7", 1))).toBe("event: state\nid: 7\ndata: [1]\n\n");
    expect(eventFrame({ name: "state", id: "1", data: "two\nlines" }).split("\n")).toHaveLength(5);
  });

  test("a viewer who does not read gets the latest state when it does", async () => {
    const outbox = outboxOf(10);
    const reader = eventStream(outbox, () => {}).getReader();
    const text = async (): Promise<string> => new TextDecoder().decode((await reader.read()).value);
    expect(await text()).toMatch(/^retry: \d+\n\n$/);
    for (let at = 1; at <= 500; at++) outbox.offer("a", { name: "state", id: String(at), data: [at] });
    const frames = (await text()) + (outbox.size > 0 ? await text() : "");
    expect(frames).toContain("id: 500\n");
    expect(frames.match(/id: /g)?.length).toBeLessThanOrEqual(2);
    await reader.cancel();
  });

  test("tells once that the viewer left", async () => {
    const outbox = outboxOf(10);
    let ends = 0;
    const body = eventStream(outbox, () => {
      ends += 1;
    });
    await body.cancel();
    outbox.close();
    expect(ends).toBe(1);
  });
});
