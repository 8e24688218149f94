import { FieldScanner, type Malformed } from "../wire/field-scanner.ts";
import { peekRequest } from "./peek.ts";

/** A stream by name. `component` is the number of StreamId.BuildComponent: 1 controller, 3 tool. */
export interface StreamIdentity {
  readonly buildId: string;
  readonly invocationId: string;
  readonly component: number;
}

/** What the first request of a connection says about its stream. Keywords come with sequence number 1 only. */
export interface ConnectionIdentity {
  readonly kind: "identity";
  readonly streamId: StreamIdentity;
  /** Value of --bes_instance_name, often empty. */
  readonly projectId: string;
  readonly keywords: readonly string[];
}

// google/devtools/build/v1/publish_build_event.proto
const keywordsField = 5;
const projectIdField = 6;
const buildIdField = 1;
const componentField = 3;
const invocationIdField = 6;

/** Reads who is talking from the first request of a connection. */
export function readConnectionIdentity(request: Uint8Array): ConnectionIdentity | Malformed {
  const peeked = peekRequest(request);
  if (peeked.kind === "malformed") return peeked;
  const streamId = readStreamId(peeked.bytes.subarray(peeked.streamIdStart, peeked.streamIdEnd));
  if ("kind" in streamId) return streamId;
  const keywords: string[] = [];
  let projectId = "";
  const scanner = new FieldScanner().reset(request, 0, request.length);
  while (scanner.next()) {
    const isKeyword = scanner.isBytes(keywordsField);
    if (!isKeyword && !scanner.isBytes(projectIdField)) continue;
    const text = readText(request, scanner.from, scanner.to);
    if (typeof text !== "string") return text;
    if (isKeyword) keywords.push(text);
    else projectId = text;
  }
  return scanner.malformed ?? { kind: "identity", streamId, projectId, keywords };
}

/** Reads the bytes of a google.devtools.build.v1.StreamId. Ids that are not UTF-8 are malformed, never altered:
 *  two different ids must not become one. */
export function readStreamId(streamId: Uint8Array): StreamIdentity | Malformed {
  let buildId: string | Malformed = "";
  let invocationId: string | Malformed = "";
  let component = 0;
  const scanner = new FieldScanner().reset(streamId, 0, streamId.length);
  while (scanner.next()) {
    if (scanner.isBytes(buildIdField)) buildId = readText(streamId, scanner.from, scanner.to);
    else if (scanner.isBytes(invocationIdField)) {
      invocationId = readText(streamId, scanner.from, scanner.to);
    } else if (scanner.isVarint(componentField)) component = scanner.int32;
    if (typeof buildId !== "string") return buildId;
    if (typeof invocationId !== "string") return invocationId;
  }
  return scanner.malformed ?? { buildId, invocationId, component };
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function readText(bytes: Uint8Array, from: number, to: number): string | Malformed {
  try {
    return utf8.decode(bytes.subarray(from, to));
  } catch {
    // The only way `decode` fails in fatal mode.
    return { kind: "malformed", offset: from, reason: "text is not UTF-8" };
  }
}
