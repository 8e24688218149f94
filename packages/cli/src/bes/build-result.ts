import { readEnvelope } from "@millrace/proto/bep/envelope";
import { payloadField, readKind } from "@millrace/proto/bep/kind";
import { readFinished } from "@millrace/proto/bep/readers/finished";
import { isMalformed } from "@millrace/proto/wire/field-scanner";
import type { BuildResult } from "./requests.ts";

/** What Bazel's last lifecycle calls would say after this event; undefined when the event says nothing about it. */
export function resultAfter(event: Uint8Array): BuildResult | undefined {
  const envelope = readEnvelope(event);
  if (envelope.kind !== "bazel") return undefined;
  const { bytes, payloadStart, payloadEnd } = envelope;
  const bep = readKind({ bytes, from: payloadStart, to: payloadEnd });
  if (bep.kind === "malformed" || bep.payload !== payloadField.finished) return undefined;
  const finished = readFinished(bep);
  if (isMalformed(finished)) return undefined;
  const isSuccess = finished.exitCode === undefined ? finished.overallSuccess : finished.exitCode === 0;
  return isSuccess ? "succeeded" : "failed";
}
