import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { credentials } from "@grpc/grpc-js";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { build } from "./bes-messages.fixture.ts";
import { makeCertificate } from "./certificates.fixture.ts";
import { StreamClient } from "./clients.fixture.ts";
import { TestDoor } from "./door.fixture.ts";

const authority = makeCertificate("authority");
const server = makeCertificate("server", authority);
const known = makeCertificate("known client", authority);
const stranger = makeCertificate("stranger");

let directory: string;
let door: TestDoor;

beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), "millrace-tls-"));
  for (const [file, text] of Object.entries({
    ca: authority.certificate,
    certificate: server.certificate,
    key: server.key,
  })) {
    writeFileSync(path.join(directory, `${file}.pem`), text);
  }
});

afterAll(() => rmSync(directory, { recursive: true }));
afterEach(() => door.stop());

const file = (name: string): string => path.join(directory, `${name}.pem`);

/** How a short build ends with these credentials. */
async function run(channel: ReturnType<typeof credentials.createInsecure>): Promise<number> {
  const bazel = new StreamClient(door.port, { channel });
  bazel.send(...build(5));
  bazel.halfClose();
  const { code } = await bazel.ended;
  if (code === 0) expect(bazel.acks).toEqual([1, 2, 3, 4, 5]);
  return code;
}

const ca = Buffer.from(authority.certificate);

describe("with TLS", () => {
  it("clients that trust the certificate are served, others and plain ones are not", async () => {
    door = await TestDoor.open({ grpc: { tlsCertificate: file("certificate"), tlsKey: file("key") } });
    expect(await run(credentials.createSsl(ca))).toBe(0);
    expect(await run(credentials.createSsl())).toBe(14);
    expect(await run(credentials.createInsecure())).toBe(14);
  });

  it("clients need a certificate of the given authority", async () => {
    const tls = { tlsCertificate: file("certificate"), tlsKey: file("key"), tlsClientCa: file("ca") };
    door = await TestDoor.open({ grpc: tls });
    const own = (from: typeof known) =>
      credentials.createSsl(ca, Buffer.from(from.key), Buffer.from(from.certificate));
    expect(await run(own(known))).toBe(0);
    expect(await run(own(stranger))).toBe(14);
    expect(await run(credentials.createSsl(ca))).toBe(14);
  });

  it("a file that cannot be read is named", async () => {
    const opened = TestDoor.open({ grpc: { tlsCertificate: file("missing"), tlsKey: file("key") } });
    await expect(opened).rejects.toThrow(/missing\.pem cannot be read/);
    door = await TestDoor.open();
  });
});
