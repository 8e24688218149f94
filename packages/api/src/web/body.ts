/**
 * A response body from pieces that are made as the client reads them. The first piece is awaited here, so that a failure before
 * anything was sent is an error answer; a later one breaks the connection, which no client takes for the end.
 */
export async function bodyOf(pieces: AsyncGenerator<Uint8Array>): Promise<ReadableStream<Uint8Array>> {
  const first = await pieces.next();
  async function* all(): AsyncGenerator<Uint8Array> {
    try {
      if (first.done === true) return;
      yield first.value;
      yield* pieces;
    } finally {
      await pieces.return(undefined);
    }
  }
  return ReadableStream.from(all());
}

/** Name of a download, safe in the quoted form of RFC 6266. */
export function attachment(name: string): string {
  return `attachment; filename="${name.replace(/[^A-Za-z0-9._-]/g, "_")}"`;
}
