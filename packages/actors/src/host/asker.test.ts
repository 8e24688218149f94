import { MillraceError } from "@millrace/base/errors";
import { systemRandom } from "@millrace/base/random";
import { ScriptedClock } from "@millrace/base/scripted-clock";
import type { Bus } from "@millrace/proto/bus";
import { openChannel } from "@millrace/proto/channels";
import { expect, test } from "vitest";
import { askUntilAnswered } from "./asker.ts";

/** A bus that fails the first `failures` requests and answers then. */
function stubbornBus(failures: number): { bus: Bus; asked: () => number } {
  let asked = 0;
  const bus = {
    request: async () => {
      asked += 1;
      if (asked > failures) return { released: {} };
      throw new MillraceError({ remedy: "retry", code: "nats-timeout", message: "no answer" });
    },
  } as unknown as Bus;
  return { bus, asked: () => asked };
}

function ask(failures: number, giveUpAfterMs: number) {
  const clock = new ScriptedClock();
  const { bus, asked } = stubbornBus(failures);
  const heard: string[] = [];
  const asking = askUntilAnswered(
    { bus, clock, random: systemRandom },
    {
      channel: openChannel,
      subject: "x",
      message: {},
      giveUpAfterMs,
      onAnswer: () => heard.push("answer"),
      onTooLong: () => heard.push("too long"),
    },
  );
  return { clock, asked, heard, asking };
}

test("asks again until there is an answer", async () => {
  const { clock, asked, heard } = ask(5, 60_000);
  await clock.advance(10_000);
  expect(asked()).toBe(6);
  expect(heard).toEqual(["answer"]);
});

test("says once that it took too long", async () => {
  const { clock, heard } = ask(1_000, 5_000);
  await clock.advance(60_000);
  expect(heard).toEqual(["too long"]);
});

test("an abandoned asking is silent and asks no more", async () => {
  const { clock, asked, heard, asking } = ask(1_000, 60_000);
  await clock.advance(100);
  asking.abandon();
  const before = asked();
  await clock.advance(60_000);
  expect(asked()).toBe(before);
  expect(heard).toEqual([]);
});
