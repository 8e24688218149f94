import { Client, credentials } from "@grpc/grpc-js";
import type { Clock } from "@millrace/base/clock";
import { errorText } from "@millrace/base/errors";
import { type Check, fail, ok, warn } from "./check.ts";

const answerMaxMs = 5_000;
const healthPath = "/grpc.health.v1.Health/Check";
/** grpc.health.v1.HealthCheckResponse with status SERVING. */
const serving = Buffer.from([0x08, 0x01]);
const same = (bytes: Buffer): Buffer => bytes;

/** Whether the front door answers as a client would ask it. */
export async function checkFrontDoor(backend: string, clock: Clock): Promise<Check> {
  const address = backend.replace(/^grpcs?:\/\//, "");
  const channel = backend.startsWith("grpcs:") ? credentials.createSsl() : credentials.createInsecure();
  const client = new Client(address, channel);
  try {
    const deadline = new Date(clock.now() + answerMaxMs);
    const answer = await new Promise<Buffer | undefined>((resolve, reject) => {
      client.makeUnaryRequest(healthPath, same, same, Buffer.alloc(0), { deadline }, (error, bytes) =>
        error === null ? resolve(bytes) : reject(error),
      );
    });
    if (answer?.equals(serving)) return ok("front door", `serves on ${backend}`);
    return warn(
      "front door",
      `on ${backend} takes no new streams`,
      "Normal while it stops; else see its log.",
    );
  } catch (error) {
    const todo = "Is it running, and is it this port? See --backend.";
    return fail("front door", `${backend} does not answer: ${errorText(error)}`, todo);
  } finally {
    client.close();
  }
}

/** Whether the API answers and reaches its database. */
export async function checkApi(server: string): Promise<Check> {
  try {
    const response = await fetch(`${server}/readyz`, { signal: AbortSignal.timeout(answerMaxMs) });
    if (response.ok) return ok("API", `serves on ${server}`);
    return fail(
      "API",
      `${server} answers ${response.status}: not ready`,
      "See its log, and PostgreSQL above.",
    );
  } catch (error) {
    return fail("API", `${server} does not answer: ${errorText(error)}`, "Is it running? See --server.");
  }
}
