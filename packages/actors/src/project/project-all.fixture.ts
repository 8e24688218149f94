import { build_event_stream } from "@millrace/proto/gen/bep";
import { google } from "@millrace/proto/gen/bes";
import { Rows } from "@millrace/proto/pipeline";
import { Projector } from "./projector.ts";
import { RowsBuilder } from "./rows-builder.ts";

export type BepProperties = build_event_stream.BuildEvent.$Properties;

const typeUrl = "type.googleapis.com/build_event_stream.BuildEvent";

/** A BuildEvent around a BEP event. */
export function bazelEvent(bep: BepProperties | Uint8Array, url = typeUrl): Uint8Array {
  const value = bep instanceof Uint8Array ? bep : build_event_stream.BuildEvent.encode(bep).finish();
  const event = {
    eventTime: { seconds: 1_700_000_000, nanos: 5_000_000 },
    bazelEvent: { type_url: url, value },
  };
  return Uint8Array.from(google.devtools.build.v1.BuildEvent.encode(event).finish());
}

export function streamFinished(): Uint8Array {
  const event = { componentStreamFinished: { type: 1 } };
  return Uint8Array.from(google.devtools.build.v1.BuildEvent.encode(event).finish());
}

export function decodeBazelEvent(bytes: Uint8Array): build_event_stream.BuildEvent {
  const event = google.devtools.build.v1.BuildEvent.decode(bytes);
  return build_event_stream.BuildEvent.decode(event.bazelEvent?.value ?? new Uint8Array(0));
}

/** Text of a progress event: one character per byte, so that any bytes can be given. */
export function progressEvent(text: { stderr?: string; stdout?: string }): Uint8Array {
  const field = (number: number, content: string | undefined): Buffer => {
    if (content === undefined) return Buffer.alloc(0);
    const bytes = Buffer.from(content, "latin1");
    return Buffer.concat([Buffer.of((number << 3) | 2), lengthOf(bytes), bytes]);
  };
  const progress = Buffer.concat([field(1, text.stdout), field(2, text.stderr)]);
  return bazelEvent(Buffer.concat([Buffer.of(0x1a), lengthOf(progress), progress]));
}

function lengthOf(bytes: Uint8Array): Buffer {
  const out: number[] = [];
  let rest = bytes.length;
  while (rest > 127) {
    out.push((rest & 127) | 128);
    rest >>= 7;
  }
  return Buffer.from([...out, rest]);
}

/** All that comes out of a projector. */
export interface Projected {
  readonly events: Uint8Array[];
  readonly facts: { endsStream: boolean; undecoded: boolean }[];
  readonly log: Uint8Array[];
  readonly rows: Uint8Array;
  readonly carries: { scrub: Uint8Array; finishSeen: boolean }[];
}

/** Projects a whole stream. `between` is called before every event but the first and may replace the projector. */
export function projectAll(
  events: readonly Uint8Array[],
  between: (projector: Projector, renew: () => void) => void = () => {},
): Projected {
  const rows = new RowsBuilder(1);
  const out: Projected = { events: [], facts: [], log: [], rows: new Uint8Array(0), carries: [] };
  const sink = {
    rows,
    log: (bytes: Uint8Array) => {
      out.log.push(Uint8Array.from(bytes));
    },
    event: (bytes: Uint8Array, facts: { endsStream: boolean; undecoded: boolean }) => {
      out.events.push(bytes);
      rows.sequence += 1;
      out.facts.push(facts);
    },
  };
  let projector = new Projector(undefined, () => sink);
  events.forEach((event, index) => {
    const renew = (): void => {
      projector = new Projector(projector.carry(), () => sink);
    };
    if (index > 0) between(projector, renew);
    projector.offer(event);
    out.carries.push(projector.carry());
  });
  projector.releaseHeld();
  return { ...out, rows: Rows.encode(rows.take()).finish() };
}
