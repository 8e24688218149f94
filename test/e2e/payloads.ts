import { build_event_stream } from "@millrace/proto/gen/bep";

const { BuildEvent } = build_event_stream;

/** BEP payloads of a build that does nothing but print: `eventCount` of them, every one with `name` in it. */
export function printingBuild(name: string, eventCount: number): Uint8Array[] {
  const first = BuildEvent.encode({
    id: { started: {} },
    started: { uuid: name, command: "build", buildToolVersion: "4.2.3", startTimeMillis: 1_700_000_000_000 },
  }).finish();
  const texts = Array.from({ length: Math.max(0, eventCount - 2) }, (_, index) =>
    BuildEvent.encode({
      id: { progress: { opaqueCount: index } },
      progress: { stderr: `${name} prints line ${index}\n` },
    }).finish(),
  );
  const last = BuildEvent.encode({
    id: { buildFinished: {} },
    finished: { exitCode: { name: "SUCCESS", code: 0 }, finishTimeMillis: 1_700_000_060_000 },
    lastMessage: true,
  }).finish();
  return [first, ...texts, last];
}
