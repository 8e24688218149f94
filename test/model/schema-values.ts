import type { google } from "@millrace/proto/gen/bep";
import { enumNames } from "./decode.ts";

type Time = google.protobuf.Timestamp.$Properties | google.protobuf.Duration.$Properties | null | undefined;

/** Milliseconds of a Timestamp or Duration; else of the older field in milliseconds, in which 0 means "not said". */
export function milliseconds(time: Time, older: number | null | undefined): number | undefined {
  if (time) return (time.seconds ?? 0) * 1000 + Math.floor((time.nanos ?? 0) / 1e6);
  return older ? older : undefined;
}

/** In proto3 an empty text and no text are the same. */
export function textOrNothing(text: string | null | undefined): string | undefined {
  return text ? text : undefined;
}

const abortReasons = enumNames("build_event_stream.Aborted.AbortReason");

/** `NO_BUILD` and the like; the number as text for a reason newer than the schema. */
export function abortReasonName(reason: number): string {
  return abortReasons.get(reason) ?? String(reason);
}
