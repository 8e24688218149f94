import { EventEmitter } from "node:events";
import { describe, expect, it } from "vitest";
import { http2StreamUnder } from "./http2-under-call.ts";
import { checkReach } from "./reach.ts";

/** Something with the members that are looked for. */
function stream(listeners: { data: number; end: number }): object {
  const emitter = new EventEmitter();
  for (const name of ["data", "end"] as const) {
    for (let at = 0; at < listeners[name]; at += 1) emitter.on(name, () => {});
  }
  const nothing = (): void => {};
  return Object.assign(emitter, {
    write: nothing,
    respond: nothing,
    sendTrailers: nothing,
    pause: nothing,
    resume: nothing,
  });
}

describe("the HTTP/2 stream under a call", () => {
  it("is found in the pinned versions of @grpc/grpc-js and Node, and so is the way of its trailers", async () => {
    // When this fails, every acknowledgement costs 11 µs, or a killed process can leave a client hanging.
    expect(await checkReach()).toEqual({ stream: true, trailers: true });
  });

  it("is found behind interceptors", () => {
    const under = stream({ data: 1, end: 1 });
    expect(http2StreamUnder({ call: { stream: under } })).toBe(under);
    expect(http2StreamUnder({ call: { nextCall: { call: { stream: under } } } })).toBe(under);
  });

  it("is not used when somebody else reads it too, or nobody", () => {
    expect(http2StreamUnder({ call: { stream: stream({ data: 2, end: 1 }) } })).toBeUndefined();
    expect(http2StreamUnder({ call: { stream: stream({ data: 1, end: 0 }) } })).toBeUndefined();
  });

  it("is not found in what does not look like a call", () => {
    const circular: Record<string, unknown> = {};
    circular.call = circular;
    for (const call of [undefined, null, 7, {}, { call: { stream: {} } }, circular]) {
      expect(http2StreamUnder(call)).toBeUndefined();
    }
  });
});
