import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { plantedSecrets, secretMaterial, survivor } from "../scrub/mask.fixture.ts";
import {
  bazelEvent,
  type Projected,
  progressEvent,
  projectAll,
  streamFinished,
} from "./project-all.fixture.ts";

// Much work, on machines that may be busy with other tests.
vi.setConfig({ testTimeout: 180_000 });

/** Text of a stream: noise and planted secrets, cut into the texts of several events. */
const console = fc
  .array(
    fc.oneof(
      fc.constantFrom("INFO: ok\n", "word ", "\n", "x=1 ", "\u001b[0m", "'", "token ", "tail"),
      fc.constantFrom(...plantedSecrets.map(({ text }) => `${text} `)),
    ),
    { maxLength: 4 },
  )
  .chain((parts) => {
    const text = parts.join(" ");
    const cut = fc.nat(text.length);
    return fc.array(cut, { maxLength: 5 }).map((cuts) => {
      const points = [...new Set([...cuts, text.length])].sort((a, b) => a - b);
      return points.map((to, index) => text.slice(points[index - 1] ?? 0, to));
    });
  });

const between = fc.constantFrom("nothing", "release", "take over");

/** The texts of both streams, dealt out to progress events with other events among them. */
const build = fc
  .tuple(console, console, fc.array(fc.nat(3), { maxLength: 12 }))
  .map(([stderr, stdout, order]) => {
    const events: Uint8Array[] = [];
    const err = [...stderr];
    const out = [...stdout];
    for (const next of order) {
      if (next === 0)
        events.push(bazelEvent({ id: { targetCompleted: { label: "//a" } }, completed: { success: true } }));
      else {
        const text = { ...take("stderr", next !== 2 ? err : []), ...take("stdout", next !== 1 ? out : []) };
        events.push(progressEvent(text));
      }
    }
    while (err.length + out.length > 0)
      events.push(progressEvent({ ...take("stderr", err), ...take("stdout", out) }));
    return [...events, bazelEvent({ finished: { exitCode: { code: 0 } } }), streamFinished()];
  });

function take(stream: "stderr" | "stdout", texts: string[]): { stderr?: string; stdout?: string } {
  const text = texts.shift();
  return text === undefined ? {} : { [stream]: text };
}

function everything({ events, log, rows, carries }: Projected): Uint8Array[] {
  return [...events, Buffer.concat(log), rows, ...carries.map(({ scrub }) => scrub)];
}

test("no piece of a planted secret comes out anywhere, whatever happens between the events", () => {
  fc.assert(
    fc.property(build, fc.array(between, { minLength: 40, maxLength: 40 }), (events, happenings) => {
      let at = 0;
      const projected = projectAll(events, (projector, renew) => {
        const happening = happenings[at++ % happenings.length];
        if (happening !== "nothing") projector.releaseHeld();
        if (happening === "take over") renew();
      });
      expect(projected.events.length).toBe(events.length);
      for (const bytes of everything(projected)) {
        for (const secret of secretMaterial) expect(survivor(bytes, secret)).toBeUndefined();
      }
    }),
    { numRuns: 400 },
  );
});

test("a new projector from the carry before every event gives the same, while nothing is held", () => {
  fc.assert(
    fc.property(build, (events) => {
      let held = 0;
      const whole = projectAll(events, (projector) => {
        held += projector.held;
      });
      fc.pre(held === 0);
      const renewed = projectAll(events, (_, renew) => renew());
      expect({ ...renewed, carries: [] }).toEqual({ ...whole, carries: [] });
    }),
    { numRuns: 400 },
  );
});

test("every event comes out once, in order, whatever is held", () => {
  fc.assert(
    fc.property(build, (events) => {
      const { events: out, facts } = projectAll(events);
      expect(out.length).toBe(events.length);
      expect(facts.map(({ endsStream }) => endsStream).indexOf(true)).toBe(events.length - 1);
    }),
    { numRuns: 200 },
  );
});

test("bytes of any kind are taken, keep their length when they are no event, and lose their secrets", () => {
  const bytes = fc.array(
    fc.oneof(
      fc.uint8Array({ maxLength: 12 }),
      fc.constantFrom(...plantedSecrets.map(({ text }) => Buffer.from(text))),
    ),
    { maxLength: 5 },
  );
  fc.assert(
    fc.property(bytes, fc.constantFrom("alone", "in an event", "as an unknown field"), (parts, place) => {
      const content = Buffer.concat(parts);
      const event = wrap(content, place);
      const { events } = projectAll([event]);
      expect(events[0]?.length).toBeGreaterThan(-1);
      for (const { secret, text } of plantedSecrets) {
        // Next to other bytes some secrets are not recognisable; a token by its shape always is.
        if (secret.startsWith("github_pat_") && content.includes(`\n${text}\n`)) {
          expect(survivor(events[0] ?? new Uint8Array(0), secret)).toBeUndefined();
        }
      }
    }),
    { numRuns: 1000 },
  );
});

function wrap(content: Uint8Array, place: string): Uint8Array {
  if (place === "alone") return content;
  if (place === "in an event") return bazelEvent(content);
  return bazelEvent(Buffer.concat([Buffer.of(0xc2, 0x3e, content.length & 127), content]));
}
