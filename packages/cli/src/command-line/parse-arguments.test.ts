import { expect, test } from "vitest";
import { z } from "zod";
import { settingFlag, switchFlag, valueFlag } from "./flag.ts";
import { parseArguments } from "./parse-arguments.ts";

const port = z.coerce.number().int().max(65_535);
const setting = {
  environmentName: "MILLRACE_GRPC_PORT",
  schema: port,
  fallback: 1985,
  description: "a port",
  secret: false,
};
const secret = {
  ...setting,
  environmentName: "MILLRACE_KEY",
  schema: z.string().max(3),
  fallback: "",
  secret: true,
};

const shape = {
  flags: {
    grpcPort: settingFlag(setting, { placeholder: "N" }),
    apiKey: settingFlag(secret, { placeholder: "KEY" }),
    output: valueFlag({ placeholder: "FILE", short: "o", schema: z.string(), description: "a file" }, ""),
    keepIds: switchFlag("keeps"),
  },
  operands: { shown: "FILE…", min: 0, max: 2 },
  environment: {},
};

function parse(args: readonly string[], over: Partial<typeof shape> = {}) {
  return parseArguments(args, { ...shape, ...over });
}

function messageOf(args: readonly string[], over: Partial<typeof shape> = {}): string {
  const parsed = parse(args, over);
  return parsed.kind === "wrong" ? parsed.message : `not wrong: ${JSON.stringify(parsed)}`;
}

test("flags in any form, operands between them, and what is told nowhere", () => {
  expect(parse(["a", "--grpc-port", "7", "b", "-o", "x"])).toMatchObject({
    kind: "arguments",
    flags: { grpcPort: 7, apiKey: "", output: "x", keepIds: false },
    operands: ["a", "b"],
    given: new Set(["grpcPort", "output"]),
  });
  expect(parse(["--output=-", "--keep-ids"])).toMatchObject({ flags: { output: "-", keepIds: true } });
});

test("the environment counts where no flag is given; empty is not given", () => {
  const environment = { MILLRACE_GRPC_PORT: "8" };
  expect(parse([], { environment })).toMatchObject({ flags: { grpcPort: 8 }, given: new Set() });
  expect(parse(["--grpc-port", "9"], { environment })).toMatchObject({ flags: { grpcPort: 9 } });
  expect(parse([], { environment: { MILLRACE_GRPC_PORT: "" } })).toMatchObject({ flags: { grpcPort: 1985 } });
});

test("what follows -- is an operand, and a lone dash a value", () => {
  expect(parse(["--", "--keep-ids"])).toMatchObject({ operands: ["--keep-ids"], flags: { keepIds: false } });
  expect(parse(["-o", "-"])).toMatchObject({ flags: { output: "-" } });
});

test.each([["--help"], ["-h"]])("%s asks for help, whatever else is there", (flag) => {
  expect(parse(["a", "b", flag]).kind).toBe("help");
});

test.each<[string[], string]>([
  [["--grcp-port", "1"], "There is no flag --grcp-port. Did you mean --grpc-port?"],
  [["--nonsense"], "There is no flag --nonsense."],
  [["-x"], "There is no flag -x."],
  [["--grpc-port"], "--grpc-port needs a value: --grpc-port N."],
  [["--grpc-port", "--keep-ids"], "--grpc-port needs a value: --grpc-port N."],
  [["--keep-ids=yes"], "--keep-ids is a switch and takes no value."],
  [["a", "b", "c"], '"c" is one argument too many.'],
])("%j is answered with a sentence", (args, message) => {
  expect(messageOf(args)).toBe(message);
});

test("a value that cannot be names where it came from, and a secret one is not shown", () => {
  expect(messageOf(["--grpc-port", "70000"])).toMatch(/^--grpc-port cannot be "70000": /);
  expect(messageOf([], { environment: { MILLRACE_GRPC_PORT: "x" } })).toMatch(
    /^MILLRACE_GRPC_PORT cannot be "x": /,
  );
  const hidden = messageOf(["--api-key", "sesame"]);
  expect(hidden).toContain("***");
  expect(hidden).not.toContain("sesame");
});

test("an operand that is missing is asked for", () => {
  expect(messageOf([], { operands: { shown: "ID", min: 1, max: 1 } })).toBe("ID is missing.");
});
