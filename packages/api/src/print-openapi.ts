import { offlineDocument } from "./offline-document.ts";

// Run as `node packages/api/src/print-openapi.ts > packages/client/src/gen/openapi.json`.
process.stdout.write(`${JSON.stringify(offlineDocument(), undefined, 2)}\n`);
