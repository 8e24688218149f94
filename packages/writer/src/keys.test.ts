import { expect, test } from "vitest";
import { type KeyStore, lookUpKey } from "./keys.ts";

const keys: KeyStore = {
  find: async (sha256) =>
    sha256[0] === 1
      ? {
          project: "team",
          scopes: ["ingest"],
          openStreamsMax: 5,
          eventsPerSecondMax: 0,
          bytesPerSecondMax: 0,
        }
      : undefined,
  serverSecret: async () => Uint8Array.of(9),
};
const open = { keys, openMode: true, openProject: "default" };
const closed = { ...open, openMode: false };
const known = Uint8Array.of(1);
const unknown = Uint8Array.of(2);

test("a known key belongs to its project, in open mode too", async () => {
  const expected = { known: true, project: "team", scopes: ["ingest"], limits: { openStreams: 5 } };
  for (const from of [open, closed]) {
    expect(await lookUpKey({ keySha256: known }, from)).toMatchObject(expected);
  }
});

test("in open mode no key and an unknown key land in the default project with all scopes", async () => {
  for (const request of [{}, { keySha256: unknown }]) {
    expect(await lookUpKey(request, open)).toMatchObject({
      known: true,
      project: "default",
      scopes: ["ingest", "upload", "read", "admin"],
      serverSecret: Uint8Array.of(9),
    });
  }
});

test("otherwise neither is known, and no secret is told", async () => {
  for (const request of [{}, { keySha256: unknown }]) {
    expect(await lookUpKey(request, closed)).toEqual({ known: false });
  }
});
