import type { ServerHttp2Stream } from "node:http2";

const depthMax = 8;

/**
 * The HTTP/2 stream under a server call of @grpc/grpc-js, or undefined where the library has changed. It lies in a
 * private field (1.14.7: `call.call.stream`, behind one more `nextCall` for every interceptor), so the version is
 * pinned, a test fails when the field moves, and whoever asks must do without.
 *
 * Reading it directly is possible only while the library's own listeners are the only ones: one for `data`, one for
 * `end`.
 */
export function http2StreamUnder(call: unknown): ServerHttp2Stream | undefined {
  let at = member(call, "call");
  for (let depth = 0; depth < depthMax && at !== undefined; depth += 1) {
    const stream = member(at, "stream");
    if (stream !== undefined) return isUsable(stream) ? stream : undefined;
    at = member(at, "nextCall") ?? member(at, "call");
  }
  return undefined;
}

function isUsable(stream: object): stream is ServerHttp2Stream {
  const methods = ["write", "respond", "sendTrailers", "pause", "resume", "listenerCount"] as const;
  if (methods.some((name) => typeof (stream as Record<string, unknown>)[name] !== "function")) return false;
  const candidate = stream as ServerHttp2Stream;
  return candidate.listenerCount("data") === 1 && candidate.listenerCount("end") === 1;
}

function member(of: unknown, name: string): object | undefined {
  if (typeof of !== "object" || of === null) return undefined;
  const value = (of as Record<string, unknown>)[name];
  return typeof value === "object" && value !== null ? value : undefined;
}
