import { Rows } from "@millrace/proto/pipeline";
import { beforeAll, expect, test, vi } from "vitest";
import { plantedSecrets, survivor } from "../scrub/mask.fixture.ts";
import { decodeBazelEvent, progressEvent, projectAll } from "./project-all.fixture.ts";
import { type RecordedStream, readRecordedStreams } from "./recorded-streams.fixture.ts";

// Much work, on machines that may be busy with other tests.
vi.setConfig({ testTimeout: 180_000 });

let streams: RecordedStream[] = [];
beforeAll(() => {
  streams = readRecordedStreams();
});

test("nothing in the recorded streams is taken for a secret, and nothing is held", () => {
  let count = 0;
  for (const { name, events } of streams) {
    const projected = projectAll(events, (projector) => expect(projector.held).toBe(0));
    const changed = projected.events.filter((event, index) => event !== events[index]);
    expect(changed.map(decodeBazelEvent), name).toEqual([]);
    expect(projected.facts.filter(({ undecoded }) => undecoded)).toEqual([]);
    count += projected.events.length;
  }
  expect(count).toBeGreaterThan(21_000);
});

test("the log is the console text of all events, stderr before stdout", () => {
  for (const { name, events } of streams) {
    const expected = events.flatMap((event) => {
      const { progress } = decodeBazelEvent(event);
      return [progress?.stderr ?? "", progress?.stdout ?? ""];
    });
    expect(Buffer.concat(projectAll(events).log).toString(), name).toBe(expected.join(""));
  }
});

test("a new projector from the carry before every event gives the same bytes, log and rows", () => {
  // The stream with 8,000 targets has nothing in it that the others lack.
  for (const { name, events } of streams.filter(({ events: { length } }) => length < 2000)) {
    const whole = projectAll(events);
    const renewed = projectAll(events, (_, renew) => renew());
    expect(renewed.events, name).toEqual(whole.events);
    expect(Buffer.concat(renewed.log), name).toEqual(Buffer.concat(whole.log));
    expect(Rows.decode(renewed.rows), name).toEqual(Rows.decode(whole.rows));
  }
});

test("secrets planted between the events of a build, split over two texts, are gone from everything", () => {
  const stream = streams.find(({ name }) => name.includes("bazel7-test-ok"));
  for (const [index, { text, secret }] of plantedSecrets.entries()) {
    const at = 20 + ((index * 7) % 100);
    const cut = 1 + ((index * 13) % (text.length - 1));
    const among = (...texts: readonly string[]): Uint8Array[] =>
      (stream?.events ?? []).toSpliced(at, 0, ...texts.map((stderr) => progressEvent({ stderr })));
    const events = among(text.slice(0, cut), `${text.slice(cut)}\n`);
    const clean = projectAll(among("harmless", "as well\n"));
    for (const takesOver of [false, true]) {
      const projected = projectAll(events, (projector, renew) => {
        if (takesOver && projector.held === 0) renew();
      });
      expect(projected.events.length).toBe(events.length);
      expect(Rows.decode(projected.rows)).toEqual(Rows.decode(clean.rows));
      for (const bytes of [...projected.events, ...projected.log])
        expect(survivor(bytes, secret)).toBeUndefined();
    }
  }
});
