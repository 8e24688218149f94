import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { ConsoleDetector, ConsoleText } from "./console-detector.ts";
import { decodeScrubState, encodeScrubState, neutral } from "./detector-state.ts";
import { scrubConsoleText } from "./event-scrubber.ts";
import { plantedSecrets, survivor } from "./mask.fixture.ts";
import { scanText } from "./scan-text.ts";

// Much work, on machines that may be busy with other tests.
vi.setConfig({ testTimeout: 180_000 });

/** What happens between two texts of a stream. */
type Between = "nothing" | "released" | "taken over";

const literalBytesMax = 7;

/** Gives the detector one text after the other; a take-over keeps only what the carry holds. */
function detect(texts: readonly string[], between: Between): { texts: ConsoleText[]; carries: Uint8Array[] } {
  let detector = new ConsoleDetector(neutral);
  const carries: Uint8Array[] = [];
  const examined = texts.map((content) => {
    const bytes = Buffer.from(content, "latin1");
    const text = new ConsoleText(bytes, 0, bytes.length);
    detector.take(text, false);
    if (between !== "nothing") detector.release();
    if (between === "taken over") {
      const carry = encodeScrubState({ stderr: text.stateAfter ?? neutral, stdout: neutral });
      carries.push(carry);
      detector = new ConsoleDetector(decodeScrubState(carry).stderr);
    }
    return text;
  });
  detector.release();
  return { texts: examined, carries };
}

function output(texts: readonly ConsoleText[]): Buffer {
  return Buffer.concat(texts.map(scrubConsoleText));
}

/** For each byte of all texts whether it is masked. */
function maskOf(texts: readonly ConsoleText[]): boolean[] {
  return texts.flatMap(({ bytes, spans }) => {
    const mask = Array<boolean>(bytes.length).fill(false);
    for (const { from, to } of spans) mask.fill(true, from, to);
    return mask;
  });
}

test.each(plantedSecrets)(
  "$kind split at any byte does not survive, whoever reads the second part",
  ({ text, secret }) => {
    for (let at = 1; at < text.length; at += 1) {
      for (const between of ["nothing", "released", "taken over"] as const) {
        const { texts, carries } = detect([text.slice(0, at), text.slice(at)], between);
        expect(survivor(output(texts), secret), `split at ${at}, ${between}`).toBeUndefined();
        for (const carry of carries) expect(survivor(carry, secret), `carry at ${at}`).toBeUndefined();
      }
    }
  },
);

const noise = fc.constantFrom(
  "INFO: Build completed\n",
  " ",
  "\n",
  "\u001b[32mok\u001b[0m ",
  "//a/b:c ",
  "x=1 ",
  "'q' ",
  "tail of \u00ff\u00fe bytes ",
  '"',
  "token",
  "=",
  "--",
  '{"a": ',
);
const planted = fc.constantFrom(...plantedSecrets.map(({ text }) => text));
const stream = fc
  .array(fc.oneof(noise, planted), { minLength: 1, maxLength: 5 })
  .map((parts) => `${parts.join(" ")}\n`);

/** Cuts of a text into pieces, among them many of one byte. */
const cuts = fc.array(fc.oneof(fc.nat(400), fc.integer({ min: 0, max: 20 })), { maxLength: 12 });

function split(text: string, offsets: readonly number[]): string[] {
  const points = [...new Set(offsets.filter((offset) => offset > 0 && offset < text.length))].sort(
    (a, b) => a - b,
  );
  return [0, ...points].map((from, index) => text.slice(from, points[index] ?? text.length));
}

test("however a text is split, the same bytes are masked, but for the known beginning of a token", () => {
  fc.assert(
    fc.property(stream, cuts, (text, offsets) => {
      const whole = maskOf(detect([text], "nothing").texts);
      const inParts = maskOf(detect(split(text, offsets), "nothing").texts);
      for (let at = 0, since = 0; at < whole.length; at += 1) {
        since = whole[at] === true ? since + 1 : 0;
        // The backslash before a closing quote is taken for a part of the value when the quote is not there yet.
        if (inParts[at] === true && text[at] !== "\\")
          expect(whole[at], context(text, offsets, at)).toBe(true);
        if (since > literalBytesMax) expect(inParts[at], context(text, offsets, at)).toBe(true);
      }
    }),
    { numRuns: 1500 },
  );
});

function context(text: string, offsets: readonly number[], at: number): string {
  return `byte ${at} of ${JSON.stringify(split(text, offsets))}`;
}

test("what is not masked keeps its bytes and order", () => {
  fc.assert(
    fc.property(
      stream,
      cuts,
      fc.constantFrom("nothing", "released", "taken over"),
      (text, offsets, between) => {
        const { texts } = detect(split(text, offsets), between as Between);
        const mask = maskOf(texts);
        const clear = Buffer.from(text, "latin1").filter((_, index) => !mask[index]);
        expect(output(texts).toString("latin1").replaceAll("<redacted>", "")).toBe(
          Buffer.from(clear).toString("latin1").replaceAll("<redacted>", ""),
        );
      },
    ),
    { numRuns: 500 },
  );
});

test("taking over before every text changes nothing while no text is undecided", () => {
  fc.assert(
    fc.property(stream, cuts, (text, offsets) => {
      const parts = split(text, offsets);
      const detector = new ConsoleDetector(neutral);
      const texts = parts
        .map((part) => Buffer.from(part, "latin1"))
        .map((bytes) => new ConsoleText(bytes, 0, bytes.length));
      for (const one of texts) {
        detector.take(one, false);
        fc.pre(one.stateAfter !== undefined);
      }
      const { texts: taken } = detect(parts, "taken over");
      expect(output(taken)).toEqual(output(texts));
    }),
    { numRuns: 1500 },
  );
});

test("a clean text that ends its line leaves no state, and one without an end of line a short context", () => {
  const detector = new ConsoleDetector(neutral);
  const line = Buffer.from(`${"plain words ".repeat(1000)}\n`);
  const first = new ConsoleText(line, 0, line.length);
  detector.take(first, true);
  expect(first.stateAfter).toBe(neutral);
  const open = new ConsoleText(line, 0, line.length - 1);
  detector.take(open, true);
  expect(open.stateAfter?.context.length).toBe(256);
  expect(scanText({ bytes: line, from: 0, to: line.length }, {}).spans).toEqual([]);
});

test("a secret goes on over a thousand texts of one byte each", () => {
  for (const { text, secret } of plantedSecrets) {
    expect(survivor(output(detect([...text], "nothing").texts), secret)).toBeUndefined();
    expect(survivor(output(detect([...text], "taken over").texts), secret)).toBeUndefined();
  }
});
