import { expect, test } from "vitest";
import { encodeRows } from "./copy-binary.ts";

test("rows in the format of the manual: signature, flags, extension, fields with lengths, trailer", () => {
  const bytes = encodeRows([
    [
      { type: "int8", value: 258 },
      { type: "bytes", value: Uint8Array.of(7) },
      { type: "text", value: "é" },
      { type: "text", value: undefined },
    ],
  ]);
  expect(bytes.toString("hex")).toBe(
    [
      "5047434f50590aff0d0a00", // PGCOPY\n\377\r\n\0
      "00000000",
      "00000000",
      "0004",
      "00000008",
      "0000000000000102",
      "00000001",
      "07",
      "00000002",
      "c3a9",
      "ffffffff",
      "ffff",
    ].join(""),
  );
});
