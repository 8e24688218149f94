import { MillraceError } from "@millrace/base/errors";
import { type Invocation, type State, states } from "./record.ts";

export const schemaVersion = 1;

export function encodeManifest(invocation: Invocation): string {
  return JSON.stringify({ schema_version: schemaVersion, ...invocation });
}

/** Fails closed: text that is not one of our manifests, or of a newer schema, is an error and never skipped. */
export function decodeManifest(text: string, where: string): Invocation {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw corrupt(where, "is not JSON", error);
  }
  if (typeof parsed !== "object" || parsed === null) throw corrupt(where, "is not an object");
  const { schema_version: version, ...rest } = parsed as { schema_version?: unknown };
  if (typeof version === "number" && version > schemaVersion) {
    throw new MillraceError({
      remedy: "reject",
      code: "mcp-schema-newer",
      message: `${where} has schema ${version}, this program reads up to ${schemaVersion}: use a newer millrace`,
    });
  }
  if (version !== schemaVersion) throw corrupt(where, "has no schema version");
  const invocation = rest as Partial<Invocation>;
  const request = invocation.request;
  const isWhole =
    typeof request?.id === "string" &&
    typeof request.workspace === "string" &&
    typeof request.command === "string" &&
    typeof request.requested_at_ms === "number" &&
    typeof invocation.owner === "string" &&
    typeof invocation.payload_bytes === "number" &&
    states.includes(invocation.state as State);
  if (!isWhole) throw corrupt(where, "lacks a required field");
  return invocation as Invocation;
}

function corrupt(where: string, why: string, cause?: unknown): MillraceError {
  return new MillraceError({
    remedy: "reject",
    code: "mcp-manifest-corrupt",
    message: `${where} ${why}: the record is damaged; remove its directory if it is not needed`,
    ...(cause === undefined ? {} : { cause }),
  });
}
