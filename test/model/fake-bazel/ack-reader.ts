// PublishBuildToolEventStreamResponse.sequence_number = 2, a varint.
const sequenceTag = 0x10;

/**
 * Reads the number of a PublishBuildToolEventStreamResponse. Bazel reads nothing else of it, so nothing else is decoded;
 * a load generator reads one per event.
 */
export class AckReader {
  private bytes: Uint8Array = new Uint8Array(0);
  private at = 0;
  private isBroken = false;

  /**
   * 0 when there is no number, undefined when the bytes are no protobuf. A number that no stream reaches, such as a
   * negative one, is only some other large one.
   */
  read(message: Uint8Array): number | undefined {
    this.bytes = message;
    this.at = 0;
    this.isBroken = false;
    let sequence = 0;
    while (this.at < message.length) {
      const tag = this.varint();
      if (tag === sequenceTag) sequence = this.varint();
      else this.skip(tag % 8);
      if (this.isBroken || this.at > message.length) return undefined;
    }
    return sequence;
  }

  private skip(wireType: number): void {
    if (wireType === 0) this.varint();
    else if (wireType === 1) this.at += 8;
    else if (wireType === 5) this.at += 4;
    else if (wireType !== 2) this.isBroken = true;
    else {
      const length = this.varint();
      this.at += length;
    }
  }

  private varint(): number {
    let value = 0;
    let scale = 1;
    for (let count = 0; count < 10; count += 1, scale *= 128) {
      const byte = this.bytes[this.at++];
      if (byte === undefined) break;
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
    this.isBroken = true;
    return 0;
  }
}
