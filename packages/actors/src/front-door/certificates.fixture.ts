import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";

/** A certificate and its key as PEM, with what is needed to sign others. */
export interface Certificate {
  readonly certificate: string;
  readonly key: string;
  readonly name: string;
  readonly privateKey: KeyObject;
}

/**
 * A fresh EC certificate for 127.0.0.1 and localhost, signed by `issuer` or by itself. Made here because a key in
 * the repository expires and alarms scanners.
 */
export function makeCertificate(name: string, issuer?: Certificate): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const signer = issuer ?? { name, privateKey };
  const extensions = [
    extension("551d13", sequence(issuer === undefined ? der(0x01, Buffer.from([0xff])) : Buffer.alloc(0))),
    extension(
      "551d11",
      sequence(der(0x82, Buffer.from("localhost")), der(0x87, Buffer.from([127, 0, 0, 1]))),
    ),
  ];
  const toBeSigned = sequence(
    der(0xa0, integer(2)),
    integer(name.length + 1),
    ecdsaWithSha256,
    distinguishedName(signer.name),
    sequence(der(0x17, Buffer.from("200101000000Z")), der(0x18, Buffer.from("20990101000000Z"))),
    distinguishedName(name),
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(...extensions)),
  );
  const signature = sign("sha256", toBeSigned, signer.privateKey);
  const whole = sequence(
    toBeSigned,
    ecdsaWithSha256,
    der(0x03, Buffer.concat([Buffer.from([0]), signature])),
  );
  return {
    certificate: pem(whole),
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    name,
    privateKey,
  };
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...head]), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function integer(value: number): Buffer {
  return der(0x02, Buffer.from([value]));
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, "hex"));
}

const ecdsaWithSha256 = sequence(oid("2a8648ce3d040302"));

function distinguishedName(name: string): Buffer {
  return sequence(der(0x31, sequence(oid("550403"), der(0x0c, Buffer.from(name)))));
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(oid(id), der(0x04, value));
}

function pem(bytes: Buffer): string {
  const lines = bytes.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}
