import { readSettings } from "@millrace/base/config";
import { describe, expect, it } from "vitest";
import { checkRelations, type IngestSettings, ingestSettings } from "./settings.ts";

function settings(environment: Record<string, string> = {}): IngestSettings {
  return readSettings(ingestSettings, environment);
}

describe("the limits", () => {
  it("fit each other by default", () => {
    expect(() => checkRelations(settings())).not.toThrow();
  });

  it.each([
    [
      { MILLRACE_BATCH_BYTES_MAX: "2000000" },
      /BATCH_BYTES_MAX=2000000 is above MILLRACE_IN_FLIGHT_BYTES_MAX/,
    ],
    [{ MILLRACE_STREAM_BYTES_MAX: "500000000" }, /STREAM_BYTES_MAX=500000000 is above MILLRACE_PROJECT/],
    [{ MILLRACE_PROJECT_BYTES_MAX: "600000000" }, /PROJECT_BYTES_MAX=600000000 is above MILLRACE_PROCESS/],
    [{ MILLRACE_MESSAGE_BYTES_MAX: "402653184" }, /largest event .* does not fit/],
    [{ MILLRACE_NATS_PAYLOAD_BYTES_MAX: "300000" }, /leaves no room for a batch/],
    [{ MILLRACE_TLS_KEY: "key.pem" }, /given together/],
    [{ MILLRACE_TLS_CLIENT_CA: "ca.pem" }, /needs MILLRACE_TLS_CERTIFICATE/],
  ])("that contradict are named: %j", (environment, message) => {
    expect(() => checkRelations(settings(environment))).toThrow(message);
  });
});
