import { hotLevel, type Zstd } from "@millrace/base/zstd";
import type { Database } from "@millrace/db/connect";
import { eventSegments } from "@millrace/db/schema/event-segments";
import { type InvocationStatus, invocations } from "@millrace/db/schema/invocations";
import { logSegments } from "@millrace/db/schema/log-segments";
import { streamPositions } from "@millrace/db/schema/stream-positions";
import { targetStatuses, targets } from "@millrace/db/schema/targets";
import { testResults } from "@millrace/db/schema/test-results";
import { testSummaries } from "@millrace/db/schema/test-summaries";
import { frameMessage } from "@millrace/proto/bep/frames";
import { Carry } from "@millrace/proto/pipeline";
import { eq, sql } from "drizzle-orm";

/** Rows as writers leave them, for tests that only read. What is left out has a plain value. */
export interface SeedBuild {
  readonly project?: string;
  readonly invocationId: string;
  readonly attempt?: number;
  readonly status?: InvocationStatus;
  readonly row?: Partial<typeof invocations.$inferInsert>;
}

export interface SeedTarget extends Partial<Omit<typeof targets.$inferInsert, "status">> {
  readonly label: string;
  readonly status: (typeof targetStatuses)[number];
}

export interface SeedTest extends Partial<Omit<typeof testSummaries.$inferInsert, "overallStatus">> {
  readonly label: string;
  /** build_event_stream.TestStatus */
  readonly status: number;
}

/** A build in the database that a test moves on step by step, each step a transaction as a writer's is. */
export class SeededBuild {
  readonly attemptId: number;
  readonly project: string;
  readonly invocationId: string;
  readonly attempt: number;
  lastSequence = 0;
  logBytes = 0;
  logLines = 0;
  private readonly database: Database;
  private readonly zstd: Zstd;

  constructor(of: { database: Database; zstd: Zstd; attemptId: number; build: SeedBuild }) {
    this.database = of.database;
    this.zstd = of.zstd;
    this.attemptId = of.attemptId;
    this.project = of.build.project ?? "default";
    this.invocationId = of.build.invocationId;
    this.attempt = of.build.attempt ?? 1;
  }

  /** Stores log text as one segment; `place` puts it into the blob store instead of the row. */
  async log(text: string | Uint8Array, place?: (bytes: Uint8Array) => Promise<string>): Promise<void> {
    const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
    const data = await this.zstd.compress(bytes, hotLevel);
    const stagedKey = place === undefined ? null : await place(data);
    const lineCount = bytes.reduce((lines, byte) => lines + (byte === 0x0a ? 1 : 0), 0);
    await this.database.orm.insert(logSegments).values({
      attemptId: this.attemptId,
      firstByte: this.logBytes,
      byteCount: bytes.length,
      firstLine: this.logLines,
      lineCount,
      data: stagedKey === null ? data : null,
      stagedKey,
    });
    this.logBytes += bytes.length;
    this.logLines += lineCount;
    await this.move();
  }

  /** Stores `google.devtools.build.v1.BuildEvent`s as one segment. */
  async events(events: readonly Uint8Array[]): Promise<void> {
    const raw = Buffer.concat(events.map(frameMessage));
    const firstSeq = this.lastSequence + 1;
    const lastSeq = this.lastSequence + events.length;
    const data = await this.zstd.compress(raw, hotLevel);
    await this.database.orm
      .insert(eventSegments)
      .values({ attemptId: this.attemptId, firstSeq, lastSeq, rawBytes: raw.length, data });
    this.lastSequence = lastSeq - 1;
    await this.move();
  }

  async targets(rows: readonly SeedTarget[]): Promise<void> {
    const values = rows.map((row) => ({
      aspect: "",
      configuration: "k8-fastbuild",
      ...row,
      attemptId: this.attemptId,
      status: targetStatuses.indexOf(row.status),
    }));
    for (const some of slices(values)) {
      await this.database.orm
        .insert(targets)
        .values(some)
        .onConflictDoUpdate({
          target: [targets.attemptId, targets.label, targets.aspect, targets.configuration],
          set: {
            status: sql`excluded.status`,
            failureMessage: sql`excluded.failure_message`,
            completedAt: sql`excluded.completed_at`,
          },
        });
    }
    await this.move();
  }

  async tests(rows: readonly SeedTest[]): Promise<void> {
    const values = rows.map(({ status, ...row }) => ({
      configuration: "k8-fastbuild",
      totalRunCount: 1,
      runCount: 1,
      attemptCount: 1,
      shardCount: 1,
      totalNumCached: 0,
      totalRunDurationMs: 1_200,
      ...row,
      overallStatus: status,
      attemptId: this.attemptId,
    }));
    for (const some of slices(values)) await this.database.orm.insert(testSummaries).values(some);
    await this.move();
  }

  async testResults(rows: readonly Omit<typeof testResults.$inferInsert, "attemptId">[]): Promise<void> {
    await this.database.orm
      .insert(testResults)
      .values(rows.map((row) => ({ ...row, attemptId: this.attemptId })));
    await this.move();
  }

  /** Advances the position by one event. */
  async move(): Promise<void> {
    this.lastSequence += 1;
    const carry = Carry.encode({ logBytes: this.logBytes, logLines: this.logLines }).finish();
    await this.database.orm
      .update(streamPositions)
      .set({ lastEventSeq: this.lastSequence, carry })
      .where(eq(streamPositions.attemptId, this.attemptId));
  }

  /** Ends the attempt with totals from its rows, as the batch with the end of the stream does. */
  async end(row: Partial<typeof invocations.$inferInsert> & { status: InvocationStatus }): Promise<void> {
    const count = (table: string, where: string) =>
      sql.raw(`(select count(*)::int from ${table} where attempt_id = ${this.attemptId} and ${where})`);
    await this.database.orm
      .update(invocations)
      .set({
        endedAt: sql`now()`,
        ...row,
        eventCount: this.lastSequence + 1,
        logBytes: this.logBytes,
        logLines: this.logLines,
        targetsTotal: count("targets", "true"),
        targetsFailed: count("targets", "status = 5"),
        testsTotal: count("test_summaries", "true"),
        testsPassed: count("test_summaries", "overall_status = 1"),
        testsFailed: count("test_summaries", "overall_status in (3, 4, 6, 7)"),
        testsFlaky: count("test_summaries", "overall_status = 2"),
      })
      .where(eq(invocations.attemptId, this.attemptId));
    await this.database.orm
      .update(streamPositions)
      .set({ finishedAt: row.status === "disconnected" ? null : sql`now()` })
      .where(eq(streamPositions.attemptId, this.attemptId));
    await this.move();
  }
}

/** Inserts position and row of an attempt that runs. */
export async function seedBuild(
  on: { database: Database; zstd: Zstd },
  build: SeedBuild,
): Promise<SeededBuild> {
  const key = {
    projectId: build.project ?? "default",
    invocationId: build.invocationId,
    attempt: build.attempt ?? 1,
  };
  const [position] = await on.database.orm
    .insert(streamPositions)
    .values({ ...key, owner: new Uint8Array(16), nodeId: "seed" })
    .returning({ attemptId: streamPositions.attemptId });
  if (position === undefined) throw new Error("the position was not inserted");
  await on.database.orm.insert(invocations).values({
    command: "build",
    ...build.row,
    ...key,
    attemptId: position.attemptId,
    status: build.status ?? "running",
  });
  return new SeededBuild({ ...on, attemptId: position.attemptId, build });
}

/** PostgreSQL takes 65,535 parameters in a statement. */
function slices<T>(values: readonly T[]): T[][] {
  const size = 3_000;
  return Array.from({ length: Math.ceil(values.length / size) }, (_, at) =>
    values.slice(at * size, (at + 1) * size),
  );
}
