import { credentials, makeGenericClientConstructor, Server, ServerCredentials } from "@grpc/grpc-js";
import { endStatus } from "../thread-messages.ts";
import { besService } from "./bes-service.ts";
import { type BidirectionalCall, endCall, sendHeaders } from "./grpc-call.ts";
import { http2StreamUnder } from "./http2-under-call.ts";

/**
 * Makes one call to a server of its own on the loopback interface and looks whether the HTTP/2 stream is found
 * under it. False after an update of the library that moved it: calls then go through its public interface.
 */
export async function canReachHttp2Stream(): Promise<boolean> {
  const server = new Server();
  let isReached = false;
  server.addService(besService, {
    PublishBuildToolEventStream: (call: BidirectionalCall) => {
      sendHeaders(call);
      isReached = http2StreamUnder(call) !== undefined;
      endCall(call, endStatus.ok, "");
    },
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  const Client = makeGenericClientConstructor(besService, "check");
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  try {
    await new Promise<void>((resolve) => {
      const call = client.makeBidiStreamRequest(
        besService.PublishBuildToolEventStream.path,
        (bytes: Buffer) => bytes,
        (bytes: Buffer) => bytes,
      );
      call.on("data", () => {});
      call.on("error", () => resolve());
      call.on("end", () => resolve());
    });
    return isReached;
  } finally {
    client.close();
    server.forceShutdown();
  }
}
