import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ByteBudget, type StreamAccount } from "./byte-budget.ts";

const overhead = 256;
const MiB = 1024 * 1024;
const limits = {
  streamBytesMax: 4 * MiB,
  projectBytesMax: 9 * MiB,
  sharedBytesMax: 6 * MiB,
  processBytesMax: 10 * MiB,
  largeBytesMax: 8 * MiB,
};

/** A client and its thread in one: it sends `left` and holds what was received until it is told to release. */
interface Model {
  readonly account: StreamAccount;
  readonly left: number[];
  readonly held: number[];
  isShed: boolean;
  take(): void;
}

const size = fc.oneof(
  fc.integer({ min: 0, max: 2_000 }),
  fc.integer({ min: 100_000, max: 900_000 }),
  fc.integer({ min: 1 * MiB, max: 7 * MiB }),
);
const stream = fc.record({
  project: fc.constantFrom("a", "b"),
  messages: fc.array(size, { minLength: 1, maxLength: 12 }),
});
const releases = fc.array(fc.nat({ max: 1_000 }), { maxLength: 60 });

function run(streams: readonly { project: string; messages: readonly number[] }[]) {
  const budget = new ByteBudget(limits);
  const models = streams.map((one, at): Model => {
    const model: Model = {
      account: budget.open({
        connection: at + 1,
        project: one.project,
        holder: {
          resume: () => model.take(),
          shed: () => {
            model.isShed = true;
            budget.close(model.account);
          },
        },
      }),
      left: [...one.messages],
      held: [],
      isShed: false,
      take: () => {
        for (;;) {
          const next = model.left[0];
          if (next === undefined || model.isShed || !budget.admit(model.account, next)) return;
          model.left.shift();
          // A part of the message is not event.
          const event = Math.max(0, next - 100);
          budget.settle(model.account, event);
          model.held.push(event + overhead);
        }
      },
    };
    return model;
  });
  const check = (): void => {
    const inFlight = models.map((model) => model.held.reduce((sum, cost) => sum + cost, 0));
    models.forEach((model, at) => {
      expect(model.account.inFlight).toBe(inFlight[at]);
      if (model.held.length > 1) expect(model.account.inFlight).toBeLessThanOrEqual(limits.streamBytesMax);
    });
    expect(budget.inFlight).toBe(inFlight.reduce((sum, bytes) => sum + bytes, 0));
    expect(budget.inFlight).toBeLessThanOrEqual(limits.processBytesMax);
    expect(budget.largeInFlight).toBeLessThanOrEqual(limits.largeBytesMax);
  };
  return { budget, models, check };
}

describe("the budget", () => {
  it("keeps every bound, counts exactly, and in the end has let everything through", () => {
    let waited = 0;
    let shed = 0;
    fc.assert(
      fc.property(fc.array(stream, { minLength: 1, maxLength: 10 }), releases, (streams, order) => {
        const { budget, models, check } = run(streams);
        for (const model of models) {
          model.take();
          check();
        }
        const releaseOne = (model: Model): void => {
          const cost = model.held.shift();
          if (cost !== undefined) budget.release(model.account, cost);
          check();
        };
        for (const at of order) releaseOne(models[at % models.length] as Model);
        waited += models.filter((model) => model.left.length > 0).length;
        while (models.some((model) => model.held.length > 0)) for (const model of models) releaseOne(model);
        for (const model of models) if (!model.isShed) expect(model.left).toEqual([]);
        shed += models.filter((model) => model.isShed).length;
        expect([budget.inFlight, budget.largeInFlight, budget.waitingStreams]).toEqual([0, 0, 0]);
      }),
      { numRuns: 300 },
    );
    expect(waited).toBeGreaterThan(50);
    expect(shed).toBeGreaterThan(10);
  });
});
