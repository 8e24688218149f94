import { z } from "@hono/zod-openapi";
import { signalBuildStatuses } from "@millrace/db/schema/signal-builds";
import { signalLetterStates } from "@millrace/db/schema/signal-dead-letters";
import { signalConfigOrigins } from "@millrace/db/schema/signal-queue-configs";
import { signalRequestStates, signalStrategies } from "@millrace/db/schema/signal-requests";
import { timeSchema } from "./names.ts";

const text = z.string().nullable();
const count = z.number().int();
const time = z.iso.datetime().openapi({ format: "date-time", type: "string" });

export const signalQueueSchema = z
  .object({
    name: z.string(),
    project: z.string(),
    origin: z
      .enum(signalConfigOrigins)
      .nullable()
      .openapi({ description: "Where it is configured; null: nowhere any more" }),
    runner: text.openapi({ description: "Kind of its runner" }),
    maxConcurrent: count.nullable(),
    maxValidationMs: count.nullable(),
    slots: z.array(
      z.object({ requestId: z.string(), number: count.nullable(), claimedAt: time, expiresAt: time }),
    ),
    waiting: count.openapi({ description: "Requests that wait for a slot" }),
    inProgress: count,
    openLetters: count.openapi({ description: "Dead letters that nobody has reconciled" }),
    latestRequestId: text,
    lastGreenUri: text,
    lastGreenRequestId: text,
    nextAdmissionAt: timeSchema.openapi({ description: "No request is admitted before" }),
    stopped: z
      .object({ since: time, reason: z.string() })
      .nullable()
      .openapi({ description: "An operator keeps its requests from being admitted" }),
  })
  .openapi("SignalQueue");

export const signalBuildSchema = z
  .object({
    id: z.string(),
    status: z.enum(signalBuildStatuses),
    reason: text.openapi({ description: "Why its end is no verdict about the commit" }),
    providerState: text.openapi({ description: "The runner's own word" }),
    url: text,
    invocationId: text.openapi({ description: "The Bazel invocation, when Millrace is the runner" }),
    createdAt: time,
    deadlineAt: time,
  })
  .openapi("SignalBuild");

export const signalRequestSchema = z
  .object({
    id: z.string(),
    queue: z.string(),
    number: count,
    uri: z.string(),
    strategy: z.enum(signalStrategies),
    baseUri: text,
    state: z.enum(signalRequestStates),
    reason: text.openapi({ description: "Why it ended without a verdict of its build" }),
    verdict: z
      .enum(["green", "broken"])
      .nullable()
      .openapi({ description: "What was recorded about the commit by this request" }),
    createdAt: time,
    endedAt: timeSchema,
    build: z.union([signalBuildSchema, z.null()]),
  })
  .openapi("SignalRequest");

export const signalHistorySchema = signalRequestSchema
  .extend({
    metadata: z.record(z.string(), z.string()),
    builds: z.array(signalBuildSchema),
    log: z.array(
      z.object({ at: time, who: z.string(), from: z.string(), to: z.string(), reason: text, buildId: text }),
    ),
  })
  .openapi("SignalRequestHistory");

export const signalLetterSchema = z
  .object({
    id: count,
    stage: z.string(),
    queue: text,
    messageId: z.string(),
    key: z.string(),
    state: z.enum(signalLetterStates),
    occurrences: count,
    attempts: count,
    firstReason: z.string(),
    lastReason: z.string(),
    firstFailedAt: time,
    lastFailedAt: time,
    settledAt: timeSchema,
  })
  .openapi("SignalDeadLetter");

export const signalConfigurationSchema = z
  .object({
    queue: z.string(),
    origin: z.enum(signalConfigOrigins),
    version: count,
    updatedAt: time,
    configuration: z.record(z.string(), z.unknown()).openapi({ description: "See docs/buildsignal.md" }),
  })
  .openapi("SignalConfiguration");

export const signalDoneSchema = z
  .object({ requestId: text, state: text, version: count.nullable() })
  .openapi("SignalDone");
