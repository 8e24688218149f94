import { constants, type ServerHttp2Stream } from "node:http2";

/** What is used of the native side of an HTTP/2 stream. */
interface NativeStream {
  /** Names and values, each followed by NUL, with NUL for "no flags" behind every pair; 0 when all is well. */
  trailers(headers: [text: string, count: number]): number;
}

/** gRPC status as trailers. The values must be fit for headers (percent-encoded). */
export type Trailers = readonly (readonly [name: string, value: string])[];

/**
 * Ends a stream with its last bytes and its trailers in one write to the socket; false where that cannot be done,
 * and then nothing has happened. Nothing may be on its way on the stream.
 *
 * Node sends trailers in a later turn than the data before them (`sendTrailers` defers itself, Node 26), and a stream's
 * end waits until what was written is out. Whoever dies in between leaves a client with all acknowledgements and no
 * status. So the bytes go past the stream's own buffer in the same turn as the end, and the trailers to the native
 * stream at the moment when it asks for them, where nghttp2 allows it. The runtime is pinned, the way is tried at
 * every start, and a test counts the writes.
 */
export function endTogether(
  stream: ServerHttp2Stream,
  ending: { readonly bytes: Uint8Array; readonly trailers: Trailers },
): boolean {
  const native = nativeOf(stream);
  if (native === undefined) return false;
  stream.once("wantTrailers", () => {
    const text = ending.trailers.map(([name, value]) => `${name}\0${value}\0\0`).join("");
    if (native.trailers([text, ending.trailers.length]) === 0) return;
    setImmediate(() => stream.close(constants.NGHTTP2_INTERNAL_ERROR));
  });
  if (ending.bytes.length > 0) stream._write(ending.bytes, "buffer" as BufferEncoding, () => {});
  stream.end();
  return true;
}

function nativeOf(stream: ServerHttp2Stream): NativeStream | undefined {
  for (const symbol of Object.getOwnPropertySymbols(stream)) {
    if (symbol.description !== "kHandle") continue;
    const handle = (stream as unknown as Record<symbol, unknown>)[symbol];
    return isNative(handle) ? handle : undefined;
  }
  return undefined;
}

function isNative(handle: unknown): handle is NativeStream {
  return (
    typeof handle === "object" && handle !== null && typeof Reflect.get(handle, "trailers") === "function"
  );
}
