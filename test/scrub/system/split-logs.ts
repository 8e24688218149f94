import { randomUUID } from "node:crypto";
import { progressEvent } from "@millrace/actors/project/project-all.fixture";
import type { PlantedSecret } from "@millrace/actors/scrub/secrets.fixture";
import { google } from "@millrace/proto/gen/bes";
import { openOddStream } from "../../e2e/odd-stream.ts";
import { encodeRequest } from "../../model/decode.ts";

/** Two secrets, one for each console stream, cut in two at the same offset. */
interface Split {
  readonly out: PlantedSecret;
  readonly err: PlantedSecret;
  readonly at: number;
}

/** Every offset at which a secret's text can be cut, each on stdout and on stderr. */
export function splitsOf(secrets: readonly PlantedSecret[]): Split[] {
  return secrets.flatMap((out, index) => {
    const err = secrets[(index + 1) % secrets.length] ?? out;
    const offsets = Math.max(out.text.length, err.text.length);
    return Array.from({ length: offsets + 1 }, (_, at) => ({ out, err, at }));
  });
}

const end = Uint8Array.from(
  google.devtools.build.v1.BuildEvent.encode({ componentStreamFinished: { type: 2 } }).finish(),
);

/** Uploads both halves over connections of their own: the second takes the stream over when the first is committed. */
export async function uploadSplit(address: string, { out, err, at }: Split): Promise<void> {
  const names = { buildId: randomUUID(), invocationId: randomUUID(), projectId: "", keywords: [] };
  const half = (text: string, which: "first" | "second"): string => {
    const bytes = Buffer.from(text).toString("latin1");
    return which === "first" ? bytes.slice(0, at) : bytes.slice(at);
  };
  const progress = (which: "first" | "second"): Uint8Array =>
    progressEvent({ stdout: half(out.text, which), stderr: half(err.text, which) });
  const request = (sequence: number, event: Uint8Array): Buffer =>
    encodeRequest({ ...names, sequence, event });
  const first = openOddStream(address);
  first.send(request(1, progress("first")));
  await first.waitForAcks(1);
  await first.close();
  const second = openOddStream(address);
  second.send(request(2, progress("second")), request(3, end));
  second.halfClose();
  const { code } = await second.ended();
  await second.close();
  if (code !== 0) throw new Error(`the second half ended with ${code}`);
}
