import { readEnvelope } from "@millrace/proto/bep/envelope";
import { payloadName, readKind } from "@millrace/proto/bep/kind";
import { Rows } from "@millrace/proto/pipeline";
import { isMalformed } from "@millrace/proto/wire/field-scanner";
import { expect, test } from "vitest";
import { plantedSecrets } from "../scrub/mask.fixture.ts";
import { bazelEvent, progressEvent, projectAll, streamFinished } from "./project-all.fixture.ts";
import { Projector } from "./projector.ts";
import { RowsBuilder } from "./rows-builder.ts";

const token = plantedSecrets[0]?.secret ?? "";

/** A projector whose outputs are noted in the order in which they come. */
function noting(carry?: { scrub: Uint8Array; finishSeen: boolean }): {
  projector: Projector;
  notes: string[];
} {
  const notes: string[] = [];
  const rows = new RowsBuilder();
  const sink = {
    rows,
    log: (bytes: Uint8Array) => {
      notes.push(`log ${Buffer.from(bytes).toString("latin1")}`);
    },
    event: (bytes: Uint8Array, facts: { endsStream: boolean; undecoded: boolean }) => {
      notes.push(
        `event ${payloadOf(bytes)}${facts.endsStream ? " ends" : ""}${facts.undecoded ? " undecoded" : ""}`,
      );
    },
  };
  return { projector: new Projector(carry, () => sink), notes };
}

function payloadOf(bytes: Uint8Array): string {
  const envelope = readEnvelope(bytes);
  if (isMalformed(envelope)) return "malformed";
  const bep = readKind({ bytes, from: envelope.payloadStart, to: envelope.payloadEnd });
  return isMalformed(bep) ? "malformed" : payloadName(bep.payload);
}

test("a clean event goes through as the same view, its log before it, stderr before stdout", () => {
  const { projector, notes } = noting();
  const event = progressEvent({ stdout: "out\n", stderr: "err\u00ff\n" });
  const { events } = projectAll([event]);
  expect(events[0]).toBe(event);
  projector.offer(event);
  expect(notes).toEqual(["log err\u00ff\n", "log out\n", "event progress"]);
});

test("a text that ends in the beginning of a secret is held, with all that comes behind it, until the next text", () => {
  const { projector, notes } = noting();
  projector.offer(progressEvent({ stderr: `a\nwith ${token.slice(0, 10)}` }));
  projector.offer(bazelEvent({ aborted: {} }));
  projector.offer(progressEvent({ stdout: "of another stream\n" }));
  expect(projector.held).toBe(3);
  expect(notes).toEqual([]);
  projector.offer(progressEvent({ stderr: `${token.slice(10)} b\n` }));
  expect(projector.held).toBe(0);
  expect(notes).toEqual([
    "log a\nwith <redacted>",
    "event progress",
    "event aborted",
    "log of another stream\n",
    "event progress",
    "log  b\n",
    "event progress",
  ]);
});

test("a held text that was no secret after all goes through unchanged", () => {
  const { projector, notes } = noting();
  projector.offer(progressEvent({ stdout: "prefix ghp_" }));
  projector.offer(progressEvent({ stdout: "is short\n" }));
  expect(notes).toEqual(["log prefix ghp_", "event progress", "log is short\n", "event progress"]);
});

test("events are emitted one by one as they are decided", () => {
  const { projector, notes } = noting();
  projector.offer(progressEvent({ stderr: "https://user:pa" }));
  projector.offer(progressEvent({ stderr: `ss@host/ and ${token.slice(0, 8)}` }));
  expect(projector.held).toBe(1);
  expect(notes).toEqual(["log https://<redacted>", "event progress"]);
  projector.offer(progressEvent({ stderr: "\n" }));
  expect(projector.held).toBe(0);
});

test("when the wait is over the doubtful end is masked, and its continuation in the next text too", () => {
  const { projector, notes } = noting();
  projector.offer(progressEvent({ stderr: `with ${token.slice(0, 9)}` }));
  projector.releaseHeld();
  projector.offer(progressEvent({ stderr: `${token.slice(9)} b\n` }));
  expect(notes).toEqual(["log with <redacted>", "event progress", "log  b\n", "event progress"]);
});

test("the end of the stream releases what is held", () => {
  const { projector, notes } = noting();
  projector.offer(progressEvent({ stderr: "see https://example.com" }));
  projector.offer(streamFinished());
  expect(projector.held).toBe(0);
  expect(notes).toEqual(["log see https://<redacted>", "event progress", "event  ends"]);
});

test("the carry stands behind the last emitted event, and whoever takes over goes on masking", () => {
  const first = noting();
  first.projector.offer(progressEvent({ stderr: "password=hunter" }));
  first.projector.offer(progressEvent({ stderr: `22 and ${token.slice(0, 9)}` }));
  expect(first.projector.held).toBe(1);
  const carry = first.projector.carry();
  expect(Buffer.from(carry.scrub).toString("latin1")).not.toContain("hunter");
  const second = noting(carry);
  second.projector.offer(progressEvent({ stderr: `22 and ${token.slice(0, 9)}` }));
  second.projector.offer(progressEvent({ stderr: `${token.slice(9)}\n` }));
  expect(first.notes).toEqual(["log password=<redacted>", "event progress"]);
  expect(second.notes).toEqual(["log  and <redacted>", "event progress", "log \n", "event progress"]);
});

test("the carry is empty while there is nothing to remember, and knows that the build has finished", () => {
  const { projector } = noting();
  projector.offer(progressEvent({ stderr: "a line\n" }));
  expect(projector.carry()).toEqual({ scrub: new Uint8Array(0), finishSeen: false });
  projector.offer(bazelEvent({ finished: { exitCode: { code: 0 } } }));
  expect(projector.carry().finishSeen).toBe(true);
  expect(
    new Projector(projector.carry(), () => ({ rows: new RowsBuilder(), log() {}, event() {} })).carry()
      .finishSeen,
  ).toBe(true);
});

test.each([
  ["bytes that are no message", Buffer.from([0xff, 0xff, 0xff])],
  ["a BEP payload that is cut off", bazelEvent(Buffer.from([0x1a, 0x05, 0x0a]))],
  ["someone else's event", bazelEvent(Buffer.from([0x08, 0x01]), "type.googleapis.com/other.Event")],
])("%s are stored as they are and counted", (_, event) => {
  const { events, facts, log } = projectAll([event]);
  expect(events).toEqual([event]);
  expect(facts).toEqual([{ endsStream: false, undecoded: true }]);
  expect(log).toEqual([]);
});

test("a payload newer than we are is no fault", () => {
  const { facts } = projectAll([bazelEvent(Buffer.from([0xfa, 0x06, 0x00]))]);
  expect(facts).toEqual([{ endsStream: false, undecoded: false }]);
});

test("rows are made of scrubbed bytes", () => {
  const description = `no such package, see https://user:hunter22@example.com/${token}`;
  const rows = Rows.decode(
    projectAll([
      bazelEvent({ id: { pattern: { pattern: ["//:x"] } }, aborted: { reason: 5, description } }),
      bazelEvent({
        workspaceStatus: {
          item: [
            { key: "BUILD_USER", value: "bob" },
            { key: "COMMIT_SHA", value: `x ${token}` },
          ],
        },
      }),
    ]).rows,
  );
  expect(rows.invocation).toMatchObject({
    failureMessage: "no such package, see https://<redacted>@example.com/<redacted>",
    user: "bob",
    commit: "x <redacted>",
  });
});
