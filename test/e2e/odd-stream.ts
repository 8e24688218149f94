import { google } from "@millrace/proto/gen/bes";
import { encodeRequest } from "../model/decode.ts";
import { type CallStatus, streamPath } from "../model/fake-bazel/bes-channel.ts";
import { openHttp2Channel } from "../model/fake-bazel/http2-channel.ts";
import { waitFor } from "./wait-for.ts";

const { BuildEvent, PublishBuildToolEventStreamResponse } = google.devtools.build.v1;

/** A stream whose every message the test chooses. */
export interface OddStream {
  readonly acks: readonly number[];
  readonly status: () => CallStatus | undefined;
  send(...messages: readonly Uint8Array[]): void;
  halfClose(): void;
  waitForAcks(count: number): Promise<void>;
  ended(): Promise<CallStatus>;
  close(): Promise<void>;
}

export function openOddStream(address: string): OddStream {
  const channel = openHttp2Channel(address);
  const acks: number[] = [];
  let status: CallStatus | undefined;
  const stream = channel.openStream({
    path: streamPath,
    headers: {},
    events: {
      onMessage: (bytes) => acks.push(PublishBuildToolEventStreamResponse.decode(bytes).sequenceNumber),
      onEnd: (end) => {
        status = end;
      },
    },
  });
  return {
    acks,
    status: () => status,
    send: (...messages) => {
      for (const message of messages) stream.write(message);
    },
    halfClose: () => stream.halfClose(),
    waitForAcks: async (count) => {
      await waitFor(`${count} acks`, () => acks.length >= count);
    },
    ended: () => waitFor("the stream ends", () => status),
    close: () => channel.close(),
  };
}

const bepType = "type.googleapis.com/build_event_stream.BuildEvent";

/** A request with a payload of its own; without one it ends the stream. */
export function requestOf(of: {
  readonly invocationId: string;
  readonly sequence: number;
  readonly payload?: Uint8Array;
  readonly typeUrl?: string;
}): Buffer {
  const { invocationId, sequence, payload, typeUrl = bepType } = of;
  const content =
    payload === undefined
      ? { componentStreamFinished: { type: 1 } }
      : { bazelEvent: { type_url: typeUrl, value: payload } };
  const event = BuildEvent.encode({ eventTime: { seconds: 1_700_000_000, nanos: 5 }, ...content }).finish();
  return encodeRequest({ sequence, buildId: "odd", invocationId, projectId: "", keywords: [], event });
}
