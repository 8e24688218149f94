import { decodeHuffman } from "./hpack-huffman.ts";

// RFC 7541 appendix A; index 1 is the first.
const staticNames = [
  ...[":authority", ":method", ":method", ":path", ":path", ":scheme", ":scheme"],
  ...Array<string>(7).fill(":status"),
  ...["accept-charset", "accept-encoding", "accept-language", "accept-ranges", "accept"],
  ...["access-control-allow-origin", "age", "allow", "authorization", "cache-control"],
  ...["content-disposition", "content-encoding", "content-language", "content-length", "content-location"],
  ...["content-range", "content-type", "cookie", "date", "etag", "expect", "expires", "from", "host"],
  ...["if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "last-modified"],
  ...["link", "location", "max-forwards", "proxy-authenticate", "proxy-authorization", "range", "referer"],
  ...["refresh", "retry-after", "server", "set-cookie", "strict-transport-security", "transfer-encoding"],
  ...["user-agent", "vary", "via", "www-authenticate"],
];
const staticValues = [
  ...["", "GET", "POST", "/", "/index.html", "http", "https"],
  ...["200", "204", "206", "304", "400", "404", "500", "", "gzip, deflate"],
];

/**
 * Reads the fields of one header block (RFC 7541) for a client that announced SETTINGS_HEADER_TABLE_SIZE 0: a server
 * may then index only the static table. Values are decoded when asked for, so that fields nobody reads cost little.
 * Throws on a block that breaks the rules.
 */
export class HeaderBlockReader {
  name = "";
  private readonly block: Buffer;
  private at = 0;
  /** The value at hand: its text, or where its bytes are. */
  private text: string | undefined;
  private from = 0;
  private isHuffman = false;

  constructor(block: Buffer) {
    this.block = block;
  }

  /** Goes to the next field; false when there is none. */
  next(): boolean {
    for (;;) {
      if (this.at === this.block.length) return false;
      const first = this.byte();
      if (first >= 0x80) {
        this.indexed(this.integer(first, 7));
        return true;
      }
      if (first < 0x20 || first >= 0x40) {
        // With incremental indexing (6 bits of index), without, or never indexed (4 bits): no table, no difference.
        this.literal(this.integer(first, first >= 0x40 ? 6 : 4));
        return true;
      }
      if (this.integer(first, 5) !== 0) throw new Error("HPACK: the table was announced to have no room");
    }
  }

  value(): string {
    if (this.text !== undefined) return this.text;
    const bytes = this.block.subarray(this.from, this.at);
    const text = this.isHuffman ? decodeHuffman(bytes) : bytes.toString("latin1");
    this.text = text;
    return text;
  }

  private indexed(index: number): void {
    this.name = staticName(index);
    this.text = staticValues[index - 1] ?? "";
  }

  private literal(nameIndex: number): void {
    if (nameIndex === 0) {
      this.string();
      this.name = this.value();
    } else {
      this.name = staticName(nameIndex);
    }
    this.string();
  }

  private string(): void {
    const first = this.byte();
    const length = this.integer(first, 7);
    this.isHuffman = first >= 0x80;
    this.text = undefined;
    this.from = this.at;
    this.at += length;
    if (this.at > this.block.length) throw new Error("HPACK: a string goes past the end of its block");
  }

  private integer(first: number, prefixBits: number): number {
    const max = (1 << prefixBits) - 1;
    let value = first & max;
    if (value < max) return value;
    for (let scale = 1; ; scale *= 128) {
      if (scale > 2 ** 28) throw new Error("HPACK: an integer is too large");
      const byte = this.byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }

  private byte(): number {
    const byte = this.block[this.at++];
    if (byte === undefined) throw new Error("HPACK: the block ends within a field");
    return byte;
  }
}

function staticName(index: number): string {
  const name = staticNames[index - 1];
  if (name === undefined) throw new Error(`HPACK: index ${index} is not of the static table`);
  return name;
}

/** Encodes fields as literals that are never put into a table, without Huffman: one pass over plain strings. */
export function encodeHeaderBlock(fields: Iterable<readonly [name: string, value: string]>): Buffer {
  let block = "";
  for (const [name, value] of fields) block += `\0${stringLiteral(name)}${stringLiteral(value)}`;
  return Buffer.from(block, "latin1");
}

function stringLiteral(text: string): string {
  if (text.length < 127) return String.fromCharCode(text.length) + text;
  let length = String.fromCharCode(127);
  let rest = text.length - 127;
  for (; rest >= 128; rest = Math.floor(rest / 128)) length += String.fromCharCode((rest % 128) | 128);
  return length + String.fromCharCode(rest) + text;
}
