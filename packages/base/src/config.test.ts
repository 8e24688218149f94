import { expect, test } from "vitest";
import { z } from "zod";
import { booleanText, describeSettings, readSettings, setting, unknownNames } from "./config.ts";

const group = {
  port: setting({ name: "PORT", schema: z.coerce.number().int().max(65_535), description: "port" }, 80),
  open: setting({ name: "OPEN", schema: booleanText, description: "open mode" }, true),
  token: setting({ name: "TOKEN", schema: z.string().min(8), description: "token", secret: true }, ""),
};

test("absent and empty settings have their defaults, others are parsed", () => {
  expect(readSettings(group, { MILLRACE_OPEN: "no", MILLRACE_PORT: "" })).toEqual({
    port: 80,
    open: false,
    token: "",
  });
});

test("a value that does not parse is an error that names the setting, and shows no secret", () => {
  const read = () => readSettings(group, { MILLRACE_PORT: "many", MILLRACE_TOKEN: "geheim" });
  expect(read).toThrow(/MILLRACE_PORT="many"/);
  expect(read).not.toThrow(/geheim/);
});

test("a misspelt name is found among all groups", () => {
  expect(unknownNames([group], { MILLRACE_PROT: "1", MILLRACE_PORT: "1", HOME: "/" })).toEqual([
    "MILLRACE_PROT",
  ]);
});

test("help lists every setting once and stars secrets", () => {
  const lines = describeSettings({ ...group, token: { ...group.token, fallback: "geheim-geheim" } });
  expect(lines).toHaveLength(3);
  expect(lines.join()).not.toContain("geheim");
});
