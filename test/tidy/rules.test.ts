import { expect, test } from "vitest";
import { forbiddenArrows, importCycles } from "./arrows.ts";
import { importsOf } from "./imports.ts";
import { unusedLibraries } from "./libraries.ts";
import { misplaced } from "./places.ts";
import { oversized } from "./size.ts";

const file = (path: string, text: string) => ({ path, text });

test("an arrow against the table is found, by name and by relative path", () => {
  const byName = importsOf(file("packages/proto/src/a.ts", 'import { x } from "@millrace/writer/store";\n'));
  const byPath = importsOf(file("packages/base/src/a.ts", 'import { x } from "../../proto/src/b.ts";\n'));
  expect(forbiddenArrows([...byName, ...byPath])).toHaveLength(2);
});

test("an allowed arrow is not reported, nor is a test's", () => {
  const allowed = importsOf(file("packages/writer/src/a.ts", 'import { x } from "@millrace/base/clock";\n'));
  const inTest = importsOf(file("packages/base/src/a.test.ts", 'import { x } from "@millrace/proto/bus";\n'));
  expect(forbiddenArrows([...allowed, ...inTest])).toEqual([]);
});

test("bench may import of test/ only its model", () => {
  const bad = importsOf(file("bench/a.ts", 'import { x } from "@millrace/test/sim/y";\n'));
  const good = importsOf(file("bench/a.ts", 'import { x } from "@millrace/test/model/y";\n'));
  expect(forbiddenArrows(bad)).toHaveLength(1);
  expect(forbiddenArrows(good)).toEqual([]);
});

test("a circle of three files is found once", () => {
  const imports = [
    ...importsOf(file("packages/base/src/a.ts", 'import { b } from "./b.ts";\n')),
    ...importsOf(file("packages/base/src/b.ts", 'import { c } from "./c.ts";\n')),
    ...importsOf(file("packages/base/src/c.ts", 'import { a } from "./a.ts";\n')),
  ];
  expect(importCycles(imports)).toHaveLength(1);
});

test("a circle of types alone is none", () => {
  const imports = [
    ...importsOf(file("packages/base/src/a.ts", 'import type { b } from "./b.ts";\n')),
    ...importsOf(file("packages/base/src/b.ts", 'import { a } from "./a.ts";\n')),
  ];
  expect(importCycles(imports)).toEqual([]);
});

test.each([
  ["const a = process.env.HOME;", "process.env"],
  ["const now = Date.now();", "time"],
  ["setTimeout(f, 10);", "timer"],
  ["const r = Math.random();", "dice"],
  ['import { pino } from "pino";', "logger"],
  ['import postgres from "postgres";', "SQL"],
  ['import { Server } from "@grpc/grpc-js";', "gRPC"],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the code that the rule must find
  ["bus.request(`batches.${shard}`);", "subject"],
])("%s is out of place in an actor", (text) => {
  expect(misplaced([file("packages/actors/src/core/a.ts", text)])).toHaveLength(1);
});

test("a comment about the time is not a use of it", () => {
  const text = "// never call Date.now() here\n/** process.env */\nconst a = 1;";
  expect(misplaced([file("packages/actors/src/core/a.ts", text)])).toEqual([]);
});

test("a long file, a long function and too many parameters are found", () => {
  const longFile = file("packages/base/src/a.ts", "\n".repeat(401));
  const longFunction = file("packages/base/src/b.ts", `function f() {${"\n".repeat(71)}}`);
  const manyParameters = file("packages/base/src/c.ts", "function f(a, b, c, d) {}");
  expect(oversized([longFile])).toHaveLength(1);
  expect(oversized([longFunction])).toHaveLength(1);
  expect(oversized([manyParameters])).toHaveLength(1);
});

test("a library that nothing imports is reported, one imported only for its types too", () => {
  const used = importsOf(file("packages/base/src/a.ts", 'import type { z } from "zod";\n'));
  expect(unusedLibraries(used).some((problem) => problem.includes("zod"))).toBe(true);
});
