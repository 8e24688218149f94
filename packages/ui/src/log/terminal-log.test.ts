import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { drawnBytesMax } from "./screen.ts";
import { TerminalLog } from "./terminal-log.ts";

const esc = "\u001b";

function logOf(...parts: (string | Uint8Array)[]): TerminalLog {
  const log = new TerminalLog();
  for (const part of parts) log.append(typeof part === "string" ? Buffer.from(part) : part);
  return log;
}

function texts(log: TerminalLog): string[] {
  return Array.from({ length: log.lineCount }, (_, line) => log.text(line));
}

function looks(log: TerminalLog): unknown[] {
  return Array.from({ length: log.lineCount }, (_, line) =>
    log
      .line(line)
      .spans.filter((span) => span.text !== "")
      .map((span) => ({ text: span.text, style: log.styles.style(span.style) })),
  );
}

describe("plain text", () => {
  test("a log without bytes has no lines", () => {
    expect(texts(logOf())).toEqual([]);
    expect(texts(logOf(""))).toEqual([]);
  });

  test("lines end with line feeds, the last one need not", () => {
    expect(texts(logOf("one\ntwo\n"))).toEqual(["one", "two"]);
    expect(texts(logOf("one\n\ntwo"))).toEqual(["one", "", "two"]);
  });

  test("a line that comes in pieces is shown as far as it came", () => {
    const log = logOf("on");
    expect(texts(log)).toEqual(["on"]);
    log.append(Buffer.from("e\ntw"));
    expect(texts(log)).toEqual(["one", "tw"]);
  });

  test("carriage return and line feed end one line", () => {
    expect(texts(logOf("one\r\ntwo\r", "\nthree"))).toEqual(["one", "two", "three"]);
  });

  test("bytes that are not UTF-8 show as such and lose nothing around them", () => {
    const bad = Uint8Array.from([0x61, 0xff, 0x62, 0x0a, 0xe4, 0xb8, 0x0a, 0x63]);
    expect(texts(logOf(bad))).toEqual(["a\ufffdb", "\ufffd", "c"]);
  });

  test("a very long line is drawn in part and says how much is left", () => {
    const log = logOf("x".repeat(drawnBytesMax + 1_000_000), "\nnext\n");
    expect(log.text(0)).toHaveLength(drawnBytesMax);
    expect(log.line(0).hiddenBytes).toBe(1_000_000);
    expect(log.text(1)).toBe("next");
  });
});

describe("styles", () => {
  test("colours go on over lines until they are reset", () => {
    expect(looks(logOf(`${esc}[31mred\nstill${esc}[0m plain\n`))).toEqual([
      [{ text: "red", style: { foreground: "1" } }],
      [
        { text: "still", style: { foreground: "1" } },
        { text: " plain", style: {} },
      ],
    ]);
  });

  test("bold, 256 and true colours", () => {
    expect(looks(logOf(`${esc}[1;38;5;208mA${esc}[48;2;1;2;255mB${esc}[22;39;49mC`))).toEqual([
      [
        { text: "A", style: { bold: true, foreground: "208" } },
        { text: "B", style: { bold: true, foreground: "208", background: "#0102ff" } },
        { text: "C", style: {} },
      ],
    ]);
  });

  test("a sequence that is cut anywhere is the same sequence", () => {
    expect(looks(logOf("a", esc, "[", "3", "2", "m", "b"))).toEqual([
      [
        { text: "a", style: {} },
        { text: "b", style: { foreground: "2" } },
      ],
    ]);
  });

  test("what is no style is not drawn: modes, titles, links, character sets", () => {
    const link = `${esc}]8;;https://example.test${esc}\\text${esc}]8;;${esc}\\`;
    expect(texts(logOf(`${esc}[?25l${esc}]0;title\u0007${link}${esc}(B!\n`))).toEqual(["text!"]);
  });
});

describe("writing over", () => {
  test("a carriage return goes back to the first column", () => {
    expect(texts(logOf("10%\r20%\r100%\ndone\n"))).toEqual(["100%", "done"]);
    expect(texts(logOf("long text\rshort\n"))).toEqual(["shorttext"]);
    expect(texts(logOf(`long text\r${esc}[Kshort\n`))).toEqual(["short"]);
  });

  test("Bazel's progress: up one line, erase, write", () => {
    const log = logOf(`${esc}[32mAnalyzing:${esc}[0m 3 targets\n`);
    for (let done = 1; done <= 50; done++) {
      log.append(Buffer.from(`\r${esc}[1A${esc}[K${esc}[32m[${done} / 50]${esc}[0m compiling\n`));
    }
    log.append(Buffer.from(`\r${esc}[1A${esc}[KINFO: done\n`));
    expect(texts(log)).toEqual(["INFO: done"]);
  });

  test("a cursor goes no further up than a screen can be high", () => {
    const log = logOf(`${"line\n".repeat(2_000)}${esc}[99999Ahere\n`);
    expect(log.lineCount).toBe(2_000);
    expect(log.text(0)).toBe("line");
    expect(log.text(1_501)).toBe("here");
  });

  test("wide characters take two columns, marks none", () => {
    expect(texts(logOf(`漢字x\r${esc}[2Cab\n`))).toEqual(["漢abx"]);
    expect(texts(logOf("漢字x\r y\n"))).toEqual([" y字x"]);
    expect(texts(logOf("e\u0301x\rE\n"))).toEqual(["Ex"]);
  });

  test("erasing what is below takes the lines away", () => {
    expect(texts(logOf(`a\nb\nc\n${esc}[3A${esc}[Jz\n`))).toEqual(["z"]);
  });

  test("clearing the screen keeps what was on it", () => {
    expect(texts(logOf(`a\nb\n${esc}[2J${esc}[Hc\nd\n${esc}[Ho\n`))).toEqual(["a", "b", "o", "d"]);
  });

  test("lines that were written over long ago keep text and style", () => {
    const log = logOf();
    for (let line = 0; line < 3_000; line++) log.append(Buffer.from(`xx\r${esc}[1;31m${line}${esc}[0m\n`));
    expect(log.text(7)).toBe("7x");
    expect(looks(log)[1_234]).toEqual([{ text: "1234", style: { bold: true, foreground: "1" } }]);
    expect(log.text(2_999)).toBe("2999");
  });
});

describe("whatever comes", () => {
  const piece = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom("a", "bc", " ", "漢", "é", "\t", "long enough to be a line") },
    { weight: 3, arbitrary: fc.constantFrom("\n", "\r\n", "\r", "\b") },
    {
      weight: 3,
      arbitrary: fc
        .constantFrom("[A", "[2A", "[K", "[1K", "[2K", "[J", "[31m", "[0m", "[1;4m", "[3C", "[D")
        .map((rest) => esc + rest),
    },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom("[B", "[2J", "[H", "[3;4H", "7", "8", "[2P", "[2@", "[3X", "]0;t\u0007", "(B", "[?25l")
        .map((rest) => esc + rest),
    },
  );
  const bytes = fc.oneof(
    fc.array(piece, { maxLength: 60 }).map((pieces) => new Uint8Array(Buffer.from(pieces.join("")))),
    fc.uint8Array({ maxLength: 60 }),
  );

  test("cuts between appends do not matter", () => {
    fc.assert(
      fc.property(bytes, fc.array(fc.nat(60), { maxLength: 5 }), (all, cuts) => {
        const bounds = [0, ...cuts.map((cut) => Math.min(cut, all.length)).sort((a, b) => a - b), all.length];
        const parts = bounds.slice(1).map((end, index) => all.slice(bounds[index], end));
        expect(looks(logOf(...parts))).toEqual(looks(logOf(all)));
      }),
      { numRuns: 300 },
    );
  });

  test("runs give what the parser alone gives", () => {
    fc.assert(
      fc.property(bytes, (some) => {
        // Behind a line feed nothing is half read; a tab moves in cells and is drawn in runs.
        const all = Uint8Array.from([...some, 0x0a]).map((byte) => (byte === 0x09 ? 0x20 : byte));
        const slow = new TerminalLog({ withRuns: false });
        slow.append(all);
        expect(looks(logOf(all))).toEqual(looks(slow));
      }),
      { numRuns: 300 },
    );
  });
});
