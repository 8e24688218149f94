import { systemRandom } from "@millrace/base/random";
import { ScriptedClock } from "@millrace/base/scripted-clock";
import { describe, expect, it } from "vitest";
import { KeyDesk, type KeyOutcome } from "./key-desk.ts";
import { ModelWriters } from "./model-writers.fixture.ts";

const patience = { holdMs: 600_000, isGone: () => false };

function world() {
  const clock = new ScriptedClock(1_000_000);
  const writers = new ModelWriters(clock);
  writers.keys.set("good", { project: "web", scopes: ["ingest", "read"] });
  const desk = new KeyDesk({ bus: writers.bus, clock, random: systemRandom });
  /** What a question comes to, seen from outside. */
  const ask = (apiKey: string | undefined, how = patience): { outcome: KeyOutcome | undefined } => {
    const seen: { outcome: KeyOutcome | undefined } = { outcome: undefined };
    void desk.resolve(apiKey, how).then((outcome) => {
      seen.outcome = outcome;
    });
    return seen;
  };
  return { clock, writers, desk, ask };
}

describe("the key desk", () => {
  it("asks once for questions at the same time, and not again for 10 s", async () => {
    const { clock, writers, desk, ask } = world();
    const asked = [ask("good"), ask("good"), ask("good")];
    await clock.advance(0);
    for (const { outcome } of asked)
      expect(outcome).toMatchObject({ kind: "granted", grant: { project: "web" } });
    expect(writers.asked).toBe(1);
    await clock.advance(9_999);
    expect(desk.known("good")).toMatchObject({ kind: "granted" });
    await clock.advance(1);
    expect(desk.known("good")).toBeUndefined();
  });

  it("serves a call without a key where the writers know one for it", async () => {
    const { clock, ask } = world();
    const open = ask(undefined);
    await clock.advance(0);
    expect(open.outcome).toMatchObject({ kind: "granted", grant: { project: "default" } });
  });

  it("stops a revoked key within 10 s", async () => {
    const { clock, writers, ask } = world();
    ask("good");
    await clock.advance(0);
    writers.keys.delete("good");
    await clock.advance(10_000);
    const later = ask("good");
    await clock.advance(0);
    expect(later.outcome).toMatchObject({ kind: "refused" });
  });

  it("holds the question while nobody answers and grants when somebody does", async () => {
    const { clock, writers, ask } = world();
    writers.isAway = true;
    const held = ask("good");
    await clock.advance(300_000);
    expect(held.outcome).toBeUndefined();
    writers.isAway = false;
    await clock.advance(5_000);
    expect(held.outcome).toMatchObject({ kind: "granted" });
  });

  it("gives up after the hold", async () => {
    const { clock, writers, ask } = world();
    writers.isAway = true;
    const held = ask("good", { holdMs: 600_000, isGone: () => false });
    const quick = ask("good", { holdMs: 2_000, isGone: () => false });
    await clock.advance(2_000);
    expect(quick.outcome).toEqual({ kind: "unanswered" });
    await clock.advance(597_999);
    expect(held.outcome).toBeUndefined();
    await clock.advance(1);
    expect(held.outcome).toEqual({ kind: "unanswered" });
  });

  it("honours a key it knew for 10 min while nobody answers, after asking in vain", async () => {
    const { clock, writers, ask } = world();
    ask("good");
    await clock.advance(0);
    writers.isAway = true;
    await clock.advance(60_000);
    const first = ask("good");
    await clock.advance(1_999);
    expect(first.outcome).toBeUndefined();
    await clock.advance(1);
    expect(first.outcome).toMatchObject({ kind: "granted" });
    const second = ask("good");
    await clock.advance(0);
    expect(second.outcome).toMatchObject({ kind: "granted" });
    await clock.advance(540_000);
    const late = ask("good");
    await clock.advance(60_000);
    expect(late.outcome).toBeUndefined();
  });

  it("stops asking for a caller that is gone", async () => {
    const { clock, writers, ask } = world();
    writers.isAway = true;
    let isGone = false;
    const held = ask("good", { holdMs: 600_000, isGone: () => isGone });
    await clock.advance(10_000);
    isGone = true;
    await clock.advance(10_000);
    expect(held.outcome).toEqual({ kind: "unanswered" });
    const asked = writers.asked;
    await clock.advance(60_000);
    expect(writers.asked).toBe(asked);
  });
});
