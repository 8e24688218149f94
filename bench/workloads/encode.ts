import { build_event_stream } from "@millrace/proto/gen/bep";

/** Encodes events into one buffer of exactly their size, as views of it: they stay for the whole run. */
export function encodeEvents(events: readonly build_event_stream.BuildEvent.$Properties[]): Uint8Array[] {
  // One writer for all: a buffer of its own for each event costs as much as encoding it.
  const writer = build_event_stream.BuildEvent.encode({});
  const ends = events.map((event) => build_event_stream.BuildEvent.encode(event, writer).len);
  const whole = writer.finish();
  return ends.map((end, index) => whole.subarray(ends[index - 1] ?? 0, end));
}
