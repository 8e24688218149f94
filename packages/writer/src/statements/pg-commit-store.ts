import type { Executor } from "@millrace/db/connect";
import { databaseFailure } from "@millrace/db/errors";
import type { Lane } from "@millrace/db/lane";
import type { WriterFailPoints } from "../failpoints.ts";
import type { CommitStore, CommitTx } from "../store.ts";
import { insertAttempts, lockAttempts, recordHoles, takeOver } from "./attempts.ts";
import { type ColumnStatement, runColumns } from "./column-statement.ts";
import { upsertTargets, upsertTestResults, upsertTestSummaries } from "./derived-rows.ts";
import { endInvocations, patchInvocations, reopenInvocations } from "./invocation-rows.ts";
import { appendDeadLetters, appendOutbox } from "./letters.ts";
import { advanceFence, lockPositions, releaseStreams } from "./positions.ts";
import { derivedStatements } from "./said-rows.ts";
import { writeEventSegments, writeLogSegments, writeNamedSets } from "./segments.ts";

/** The writer's port on PostgreSQL: transactions of one lane. */
export function pgCommitStore(lane: Lane, points: WriterFailPoints): CommitStore {
  const steps = {
    sent: () => points.reach("commit-sent"),
    answered: () => points.reach("commit-answered"),
  };
  return {
    transact: async (work) => {
      try {
        return await lane.transact((executor) => work(commitTx(executor)), steps);
      } catch (error) {
        throw failureOf(error);
      }
    },
  };
}

/** Errors of the database are classified here; a fault of our own code passes as it is. */
function failureOf(error: unknown): unknown {
  if (error instanceof TypeError || error instanceof RangeError) return error;
  return error instanceof Error && "code" in error ? databaseFailure(error) : error;
}

function commitTx(executor: Executor): CommitTx {
  const write =
    <R>(statement: ColumnStatement<R>) =>
    async (rows: readonly R[]): Promise<void> => {
      await runColumns(executor, statement, rows);
    };
  return {
    lockAttempts: (keys) => lockAttempts(executor, keys),
    insertAttempts: (attempts) => insertAttempts(executor, attempts),
    takeOver: write(takeOver),
    recordHoles: write(recordHoles),
    releaseStreams: write(releaseStreams),
    lockPositions: (attemptIds) => lockPositions(executor, attemptIds),
    advanceFence: (rows) => advanceFence(executor, rows),
    writeEventSegments: (segments) => writeEventSegments(executor, segments),
    writeLogSegments: (segments) => writeLogSegments(executor, segments),
    writeNamedSets: (blocks) => writeNamedSets(executor, blocks),
    upsertTargets: write(upsertTargets),
    upsertTestResults: write(upsertTestResults),
    upsertTestSummaries: write(upsertTestSummaries),
    writeDerived: (table, rows) => write(derivedStatements[table])(rows),
    patchInvocations: write(patchInvocations),
    reopenInvocations: (attemptIds) => reopenInvocations(executor, attemptIds),
    endInvocations: (ends) => endInvocations(executor, ends),
    appendOutbox: write(appendOutbox),
    appendDeadLetters: write(appendDeadLetters),
  };
}
