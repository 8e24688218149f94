import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { offlineDocument } from "../../api/src/offline-document.ts";
import { generatedTypes, typesFile } from "../generated-types.ts";
import document from "./gen/openapi.json" with { type: "json" };

const say = "run `pnpm --filter @millrace/client generate` and commit what it writes";

test("the kept OpenAPI document is that of the routes", () => {
  expect(document, say).toEqual(JSON.parse(JSON.stringify(offlineDocument())));
});

test("the kept types are those of the kept document", async () => {
  expect(await readFile(typesFile, "utf8"), say).toBe(await generatedTypes());
});
