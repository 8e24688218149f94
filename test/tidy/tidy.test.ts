import { expect, test } from "vitest";
import { forbiddenArrows, importCycles } from "./arrows.ts";
import { importsOf } from "./imports.ts";
import { unusedLibraries } from "./libraries.ts";
import { misplaced } from "./places.ts";
import { fileLengths, oversized } from "./size.ts";
import { isTestFile, readSourceFiles } from "./source-files.ts";

const files = readSourceFiles();
const imports = files.flatMap(importsOf);

test("packages import only what the table allows", () => {
  expect(forbiddenArrows(imports)).toEqual([]);
});

test("no files import each other in a circle", () => {
  expect(importCycles(imports)).toEqual([]);
});

test("time, chance, settings, logger, SQL, gRPC, React and subjects stay in their places", () => {
  expect(misplaced(files)).toEqual([]);
});

test("no file and no function is too long", () => {
  expect(oversized(files)).toEqual([]);
});

test("nine of ten files have at most 250 lines", () => {
  const { shareUnder250 } = fileLengths(files.filter((file) => !isTestFile(file.path)));
  expect(shareUnder250).toBeGreaterThanOrEqual(0.9);
});

test("every library that Millrace stands on is used", () => {
  expect(unusedLibraries(imports)).toEqual([]);
});
