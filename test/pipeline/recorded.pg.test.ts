import { connect, type Database } from "@millrace/db/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listPublicFiles, listRuns, publicDataSkipReason } from "../model/corpus.ts";
import { expectedInWords, inWordsOfTheModel } from "../model/in-words-of-the-model.ts";
import { reduceEvents } from "../model/reduce.ts";
import { rowDifferences } from "../model/row-differences.ts";
import { freshDatabase, type TestDatabase } from "../services/database.ts";
import { type LocalPipeline, startLocalPipeline, type UploadedStream } from "./local-pipeline.ts";
import { readStoredBuild } from "./stored-build.ts";
import { uploadOfPublicFile, uploadsOf } from "./uploads.ts";

let fresh: TestDatabase;
let database: Database;
let pipeline: LocalPipeline;

beforeAll(async () => {
  fresh = await freshDatabase();
  database = connect({ url: fresh.url, max: 1, name: "recorded" });
  pipeline = await startLocalPipeline(fresh.url);
});

afterAll(async () => {
  await pipeline.close();
  await database.close();
  await fresh.drop();
});

async function checkStored(upload: UploadedStream): Promise<void> {
  await pipeline.upload(upload);
  const stored = await readStoredBuild(database, upload.invocationId);
  const expected = reduceEvents(upload.events.map((event, index) => ({ sequence: index + 1, event })));
  expect(stored.events.length).toBe(upload.events.length);
  for (const [index, event] of upload.events.entries()) {
    expect(Buffer.compare(stored.events[index] ?? Buffer.alloc(0), event), `event ${index + 1}`).toBe(0);
  }
  expect(stored.log.equals(expected.log)).toBe(true);
  const rows = { stored: inWordsOfTheModel(stored), expected: expectedInWords(expected) };
  expect(rowDifferences(rows)).toEqual([]);
}

test.each(listRuns().map((run) => [run.name, run] as const))(
  "%s is stored as it was sent",
  async (_, run) => {
    for (const upload of uploadsOf(run)) await checkStored(upload);
  },
);

const publicFiles = [...listPublicFiles(".bep"), ...listPublicFiles(".ndjson")];

test.skipIf(publicFiles.length === 0)(
  `builds of other projects are stored as they were sent (${publicDataSkipReason() ?? publicFiles.length})`,
  async () => {
    for (const file of publicFiles) await checkStored(uploadOfPublicFile(file));
  },
);
