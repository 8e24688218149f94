import { build_event_stream as bep } from "@millrace/proto/gen/bep";
import { google } from "@millrace/proto/gen/bes";
import type { Dice } from "./dice.ts";

/** One uploader's build: what it will send, in order. Every event's bytes differ from every other's. */
export interface SimBuild {
  readonly name: string;
  readonly project: string;
  readonly invocationId: string;
  readonly buildId: string;
  /** `google.devtools.build.v1.BuildEvent` bytes of sequence numbers 1 … N; the last ends the stream. */
  readonly events: readonly Uint8Array[];
  /** Log text that each event adds. */
  readonly logTexts: readonly string[];
  /** Keys of the target and test rows that the events make, as the model database keys them. */
  readonly labels: readonly string[];
}

const typeUrl = "type.googleapis.com/build_event_stream.BuildEvent";

/** A small build of 8 … 40 events with progress, targets and tests. */
export function makeBuild(
  dice: Dice,
  named: { name: string; project: string; invocationId: string; buildId: string },
): SimBuild {
  const exitCode = dice.pick([0, 1, 3]) ?? 0;
  const payloads: bep.IBuildEvent[] = [
    { id: { started: {} }, started: { uuid: named.invocationId, command: "test", startTimeMillis: 1 } },
  ];
  const count = dice.between(5, 37);
  for (let n = 0; n < count; n += 1) payloads.push(randomPayload(dice, `${named.name}-${n}`));
  payloads.push({
    id: { buildFinished: {} },
    finished: { exitCode: { name: exitCode === 0 ? "SUCCESS" : "FAILED", code: exitCode } },
    lastMessage: true,
  });
  const events = payloads.map((payload, index) => wrap(payload, `${named.name}/${index}`));
  events.push(google.devtools.build.v1.BuildEvent.encode({ componentStreamFinished: { type: 1 } }).finish());
  return {
    ...named,
    events,
    logTexts: payloads.map((payload) => payload.progress?.stderr ?? ""),
    labels: payloads.flatMap((payload) => {
      const target = payload.id?.targetCompleted;
      const result = payload.id?.testResult;
      if (target) return [`${target.label}|k8`];
      return result ? [`${result.label}`] : [];
    }),
  };
}

function randomPayload(dice: Dice, name: string): bep.IBuildEvent {
  const label = `//pkg:${name}`;
  const configuration = { id: "k8" };
  switch (dice.between(0, 3)) {
    case 0:
      return {
        id: { targetCompleted: { label, configuration } },
        completed: { success: dice.happens(0.8) },
      };
    case 1:
      return {
        id: { testResult: { label, run: 1, shard: 1, attempt: 1, configuration } },
        testResult: { status: dice.between(1, 4) },
      };
    case 2:
      return { id: { namedSet: { id: name } }, namedSetOfFiles: { files: [{ name, uri: "file:///x" }] } };
    default:
      return { id: { progress: { opaqueCount: 1 } }, progress: { stderr: `line ${name}\n`.repeat(3) } };
  }
}

/** The name in the event time makes equal payloads differ. */
function wrap(payload: bep.IBuildEvent, name: string): Uint8Array {
  const seconds = [...name].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 1_000_000_007, 7);
  return google.devtools.build.v1.BuildEvent.encode({
    eventTime: { seconds, nanos: 1 },
    bazelEvent: { type_url: typeUrl, value: bep.BuildEvent.encode(payload).finish() },
  }).finish();
}
