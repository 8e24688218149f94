// Makes src/gen/api.ts from src/gen/openapi.json, which `packages/api/src/print-openapi.ts` prints. Run both after a change
// of a route: `pnpm --filter @millrace/client generate`. Tests fail while either is not current.
import { writeFile } from "node:fs/promises";
import { generatedTypes, typesFile } from "./generated-types.ts";

await writeFile(typesFile, await generatedTypes());
