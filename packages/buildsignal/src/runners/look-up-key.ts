import { createHash } from "node:crypto";
import type { TriggerRequest } from "../runner.ts";

/**
 * The key by which a service is asked for a build of this request: the request's own and what is to be built. Another
 * Millrace, or this one on a new database, numbers its requests from 1 again; without the commit in it, it would find an
 * older build of another commit and believe it.
 */
export function lookUpKey(request: TriggerRequest): string {
  return `${request.key}@${requestHash(request).slice(0, 12)}`;
}

/** SHA-256, in hex, of what makes a request to a runner this one. */
export function requestHash(request: TriggerRequest): string {
  const { project, queue, key, headUri, baseUri } = request;
  return createHash("sha256")
    .update(JSON.stringify([project, queue, key, headUri, baseUri]))
    .digest("hex");
}
