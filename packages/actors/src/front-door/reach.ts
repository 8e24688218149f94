import {
  type Client,
  credentials,
  makeGenericClientConstructor,
  Server,
  ServerCredentials,
  type StatusObject,
} from "@grpc/grpc-js";
import { type Clock, systemClock } from "@millrace/base/clock";
import { endStatus } from "../thread-messages.ts";
import { besService } from "./bes-service.ts";
import { endTogether } from "./end-together.ts";
import { type BidirectionalCall, endCall, sendHeaders, statusTrailers } from "./grpc-call.ts";
import { http2StreamUnder } from "./http2-under-call.ts";

/** Which ways below the libraries' public interfaces are open in this process. */
export interface Reach {
  /** The HTTP/2 stream under a call: cheap reading and acknowledging, exact bounds. */
  readonly stream: boolean;
  /** Last acknowledgements and status in one write. */
  readonly trailers: boolean;
}

export const noReach: Reach = { stream: false, trailers: false };

const answerWithinMs = 5_000;
const proof = "checked";

/**
 * Makes one call to a server of its own on the loopback interface and tries the ways; after an update of
 * @grpc/grpc-js or Node they may be closed, and calls then go through the public interfaces.
 */
export async function checkReach(clock: Clock = systemClock): Promise<Reach> {
  const server = new Server({ "grpc.enable_channelz": 0 });
  let reach = noReach;
  server.addService(besService, {
    PublishBuildToolEventStream: (call: BidirectionalCall) => {
      reach = tryWays(call);
    },
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  const Caller = makeGenericClientConstructor(besService, "check");
  const client = new Caller(`127.0.0.1:${port}`, credentials.createInsecure());
  try {
    const status = await call(client, clock);
    const hasTrailers = status?.code === endStatus.aborted && status.details === proof;
    return { ...reach, trailers: reach.trailers && hasTrailers };
  } finally {
    client.close();
    server.forceShutdown();
  }
}

function tryWays(call: BidirectionalCall): Reach {
  const stream = http2StreamUnder(call);
  sendHeaders(call);
  const ending = { status: endStatus.aborted, message: proof };
  if (
    stream !== undefined &&
    endTogether(stream, { bytes: Buffer.alloc(0), trailers: statusTrailers(ending) })
  ) {
    return { stream: true, trailers: true };
  }
  endCall(call, ending);
  return { stream: stream !== undefined, trailers: false };
}

function call(client: Client, clock: Clock): Promise<StatusObject | undefined> {
  return new Promise((resolve) => {
    const { path, requestSerialize, responseDeserialize } = besService.PublishBuildToolEventStream;
    const stream = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize);
    const cancel = clock.after(answerWithinMs, () => resolve(undefined));
    stream.on("data", () => {});
    stream.on("error", () => {});
    stream.on("status", (status: StatusObject) => {
      cancel();
      resolve(status);
    });
  });
}
