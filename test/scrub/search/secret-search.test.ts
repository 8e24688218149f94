import { constants, gzipSync, zstdCompressSync } from "node:zlib";
import { google } from "@millrace/proto/gen/bes";
import { expect, test } from "vitest";
import { Needles } from "./needles.ts";
import { SecretSearch } from "./secret-search.ts";
import { zstdFrames } from "./zstd-frames.ts";

const secret = 'q7Rz/1+Xc "5Vb\\9Nm\u00e9';
const needle = { name: "it", bytes: Buffer.from(secret) };
const around = (text: string | Uint8Array): Buffer =>
  Buffer.concat([Buffer.from("some words before, "), Buffer.from(text), Buffer.from(" and behind")]);

/** What can be wrapped around some bytes. Text encodings stand in a sentence, so that runs begin and end somewhere. */
const wrappings: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  plain: around,
  zstd: (bytes) => around(zstdCompressSync(bytes)),
  gzip: (bytes) => Buffer.concat([Buffer.from("before"), gzipSync(bytes)]),
  base64: (bytes) => around(bytes.toString("base64")),
  base64url: (bytes) => around(`x${bytes.toString("base64url")}`),
  "base64 in lines": (bytes) => around(bytes.toString("base64").replaceAll(/(.{16})/g, "$1\n")),
  hex: (bytes) => around(`\\x${bytes.toString("hex")}`),
  "hex at an odd place": (bytes) => around(`a${bytes.toString("hex").toUpperCase()}`),
  percent: (bytes) => around([...bytes].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")),
  "JSON string": (bytes) => around(JSON.stringify(bytes.toString("latin1")).replaceAll("/", "\\/")),
  "unicode escapes": (bytes) =>
    around([...bytes].map((byte) => `\\u00${byte.toString(16).padStart(2, "0")}`).join("")),
  "octal escapes": (bytes) =>
    around([...bytes].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("")),
  protobuf: (value) =>
    Buffer.from(
      google.devtools.build.v1.BuildEvent.encode({ bazelEvent: { type_url: "x", value } }).finish(),
    ),
};

function found(bytes: Uint8Array): string[] {
  const search = new SecretSearch([needle]);
  search.look("here", bytes);
  return search.found().map(({ where }) => where);
}

// What is ASCII in each encoding comes through any other; a byte above 127 in JSON becomes two.
const ascii = Buffer.from(secret.slice(0, -1));

test.each(Object.keys(wrappings))("a needle in %s is found, and without it nothing is", (name) => {
  const wrap = wrappings[name] ?? around;
  expect(found(wrap(ascii))).toHaveLength(1);
  expect(found(wrap(Buffer.from("q7Rz/1+ Xc 5Vb 9Nm, which is another")))).toEqual([]);
});

// A JSON string holds no bytes, only characters.
const isPossible = (outer: string, inner: string): boolean =>
  outer !== "JSON string" || !["zstd", "gzip", "protobuf"].includes(inner);

const pairs = Object.keys(wrappings).flatMap((outer) =>
  Object.keys(wrappings)
    .filter((inner) => isPossible(outer, inner))
    .map((inner) => [outer, inner]),
);

test.each(pairs)("a needle in %s around %s is found", (outer, inner) => {
  const [wrapOuter = around, wrapInner = around] = [wrappings[outer ?? ""], wrappings[inner ?? ""]];
  expect(found(wrapOuter(wrapInner(ascii)))).toHaveLength(1);
});

test("a needle under everything is found, and told how", () => {
  const all = ["JSON string", "base64", "protobuf", "zstd", "hex", "percent"];
  const bytes = all.reduce<Buffer>((inner, name) => (wrappings[name] ?? around)(inner), ascii);
  expect(found(bytes)).toEqual(["here > percent > hex > zstd > base64 > escapes"]);
});

test("any eight bytes of a needle are found, seven are not", () => {
  for (let at = 0; at + 8 <= needle.bytes.length; at += 1) {
    expect(found(around(needle.bytes.subarray(at, at + 8)))).toEqual(["here"]);
    expect(found(Buffer.concat([needle.bytes.subarray(at, at + 7), Buffer.from("|")]))).toEqual([]);
  }
});

test("a frame is found in the middle of bytes, with others behind it, with and without its size and checksum", () => {
  const contents = [
    "",
    "a",
    "b".repeat(300_000),
    Buffer.from(Array.from({ length: 70_000 }, (_, i) => (i * 7919) >> 3)),
  ];
  const frames = contents.flatMap((content) =>
    [0, 1].map((checksum) =>
      zstdCompressSync(content, { params: { [constants.ZSTD_c_checksumFlag]: checksum } }),
    ),
  );
  const read = zstdFrames(Buffer.concat(frames.flatMap((frame) => [Buffer.from("between"), frame])));
  expect(read.map(({ content }) => content?.length)).toEqual(
    contents.flatMap((content) => [content.length, content.length]),
  );
});

test("a frame that is cut off is counted", () => {
  const search = new SecretSearch([needle]);
  search.look("here", zstdCompressSync(Buffer.from("x".repeat(1000))).subarray(0, 12));
  expect(search.unreadableFrames).toBe(1);
});

test("needles that share a window are told, and short ones refused", () => {
  const one = { name: "one", bytes: Buffer.from("0123456789") };
  const two = { name: "two", bytes: Buffer.from("x12345678y") };
  expect(new Needles([one, two]).shared()).toEqual(["12345678"]);
  expect(() => new Needles([{ name: "short", bytes: Buffer.from("1234567") }])).toThrow("7 bytes only");
});

test("each secret is told once for each place", () => {
  const search = new SecretSearch([needle, { name: "other", bytes: Buffer.from("0123456789") }]);
  search.look("one", around(secret));
  search.look("one", around(`${secret} again`));
  search.look("two", `01234567 and ${secret}`);
  expect(search.found().map(({ needle: name, where }) => [name, where])).toEqual([
    ["it", "one"],
    ["other", "two"],
    ["it", "two"],
  ]);
  expect(search.foundIn("two")).toEqual(new Set(["it", "other"]));
});
