import { ConnectionFault, contentOf, errorCode, type Frame, frameFlag, frameType } from "./http2-frames.ts";

/** The whole header block of a HEADERS frame and its CONTINUATION frames. */
export interface HeaderBlock {
  readonly streamId: number;
  readonly endsStream: boolean;
  /** Valid as long as the last frame. */
  readonly bytes: Buffer;
}

/** Puts header blocks together, which nothing may interrupt on a connection (RFC 9113 §6.10). */
export class HeaderAssembly {
  private unfinished:
    | { readonly streamId: number; readonly endsStream: boolean; parts: Buffer[] }
    | undefined;

  /** To be asked about every frame. Throws a ConnectionFault. */
  checkOrder({ type, streamId }: Frame): void {
    const continues = type === frameType.continuation;
    if (continues !== (this.unfinished !== undefined)) {
      throw new ConnectionFault(
        errorCode.protocol,
        "a header block is interrupted or continued out of place",
      );
    }
    if (continues && this.unfinished?.streamId !== streamId) {
      throw new ConnectionFault(errorCode.protocol, "a header block is continued for another stream");
    }
  }

  /** Takes a HEADERS or CONTINUATION frame; answers the block when it is whole. */
  push(frame: Frame): HeaderBlock | undefined {
    const content = contentOf(frame);
    const { streamId, flags } = frame;
    const begun = this.unfinished ?? {
      streamId,
      endsStream: (flags & frameFlag.endStream) !== 0,
      parts: [],
    };
    if ((flags & frameFlag.endHeaders) === 0) {
      begun.parts.push(Buffer.from(content));
      this.unfinished = begun;
      return undefined;
    }
    this.unfinished = undefined;
    const bytes = begun.parts.length === 0 ? content : Buffer.concat([...begun.parts, content]);
    return { streamId, endsStream: begun.endsStream, bytes };
  }
}
