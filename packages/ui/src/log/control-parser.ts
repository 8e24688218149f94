/** What a terminal does with the bytes it gets. */
export interface TerminalActions {
  print(codePoint: number): void;
  /** A C0 control character: line feed, carriage return, backspace, tab … */
  control(byte: number): void;
  /** `ESC [ parameters final`. */
  sequence(final: string, parameters: string): void;
  /** `ESC final`. */
  escape(final: string): void;
}

type State = "ground" | "escape" | "escape-rest" | "sequence" | "string" | "string-escape";

const escapeByte = 0x1b;
const bell = 0x07;
const cancel = 0x18;
const substitute = 0x1a;
const replacement = 0xfffd;

/** Longer ones are no control sequences but garbage. */
const parametersMax = 256;

/**
 * Takes a byte stream apart as ECMA-48 and xterm do: text in UTF-8 (what is not becomes U+FFFD), control characters, control
 * sequences; strings (titles, links, images) are passed over. Any cut between two calls is right.
 */
export class ControlParser {
  private state: State = "ground";
  private parameters = "";
  private codePoint = 0;
  private missing = 0;
  private least = 0x80;
  private most = 0xbf;
  private readonly actions: TerminalActions;

  constructor(actions: TerminalActions) {
    this.actions = actions;
  }

  /** True between two characters: nothing is half read. */
  get idle(): boolean {
    return this.state === "ground" && this.missing === 0;
  }

  feed(byte: number): void {
    if (this.state === "ground") this.ground(byte);
    else if (byte === cancel || byte === substitute) this.state = "ground";
    else if (this.state === "escape") this.afterEscape(byte);
    else if (this.state === "escape-rest") this.escapeRest(byte);
    else if (this.state === "sequence") this.inSequence(byte);
    else this.inString(byte);
  }

  private ground(byte: number): void {
    if (this.missing > 0) {
      if (byte >= this.least && byte <= this.most) {
        this.continuation(byte);
        return;
      }
      this.missing = 0;
      this.actions.print(replacement);
    }
    if (byte === escapeByte) this.state = "escape";
    else if (byte < 0x20) this.actions.control(byte);
    else if (byte < 0x7f) this.actions.print(byte);
    else if (byte !== 0x7f) this.lead(byte);
  }

  /** Bounds of the second byte keep out overlong forms, surrogates and what lies above U+10FFFF, as WHATWG's decoder does. */
  private lead(byte: number): void {
    this.least = byte === 0xe0 ? 0xa0 : byte === 0xf0 ? 0x90 : 0x80;
    this.most = byte === 0xed ? 0x9f : byte === 0xf4 ? 0x8f : 0xbf;
    if (byte >= 0xc2 && byte <= 0xdf) this.expect(1, byte & 0x1f);
    else if (byte >= 0xe0 && byte <= 0xef) this.expect(2, byte & 0x0f);
    else if (byte >= 0xf0 && byte <= 0xf4) this.expect(3, byte & 0x07);
    else this.actions.print(replacement);
  }

  private expect(missing: number, bits: number): void {
    this.missing = missing;
    this.codePoint = bits;
  }

  private continuation(byte: number): void {
    this.codePoint = (this.codePoint << 6) | (byte & 0x3f);
    this.least = 0x80;
    this.most = 0xbf;
    this.missing -= 1;
    if (this.missing === 0) this.actions.print(this.codePoint);
  }

  private afterEscape(byte: number): void {
    this.parameters = "";
    if (byte === 0x5b) this.state = "sequence";
    else if (byte === 0x5d || byte === 0x50 || byte === 0x58 || byte === 0x5e || byte === 0x5f) {
      this.state = "string";
    } else if (byte >= 0x20 && byte <= 0x2f) this.state = "escape-rest";
    else if (byte === escapeByte) this.state = "escape";
    else {
      this.state = "ground";
      if (byte >= 0x30 && byte <= 0x7e) this.actions.escape(String.fromCharCode(byte));
      else this.ground(byte);
    }
  }

  /** `ESC ( B` and its like choose character sets; nothing of them is shown. */
  private escapeRest(byte: number): void {
    if (byte >= 0x20 && byte <= 0x2f) return;
    this.state = byte === escapeByte ? "escape" : "ground";
  }

  private inSequence(byte: number): void {
    if (byte >= 0x40 && byte <= 0x7e) {
      this.state = "ground";
      this.actions.sequence(String.fromCharCode(byte), this.parameters);
    } else if (byte >= 0x20 && byte < 0x40 && this.parameters.length < parametersMax) {
      this.parameters += String.fromCharCode(byte);
    } else if (byte === escapeByte) {
      this.state = "escape";
    } else if (byte < 0x20) {
      this.actions.control(byte);
    } else {
      this.state = "ground";
    }
  }

  /** A string ends with BEL or `ESC \`; a line feed ends one that was never closed. */
  private inString(byte: number): void {
    if (this.state === "string-escape") {
      if (byte === 0x5c) this.state = "ground";
      else {
        this.state = "escape";
        this.afterEscape(byte);
      }
    } else if (byte === bell) this.state = "ground";
    else if (byte === escapeByte) this.state = "string-escape";
    else if (byte === 0x0a) {
      this.state = "ground";
      this.actions.control(byte);
    }
  }
}
