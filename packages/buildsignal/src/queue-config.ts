import { z } from "zod";
import { cadenceConfig } from "./cadence.ts";
import { topicSettings, topicSettingsShape } from "./queue/topic-settings.ts";

const milliseconds = z.number().int().min(0);

/** Polls wait for runners: 10,000 builds are asked for every 2 s, by services that answer within 200 ms. */
const pollsAtOnce = 1_000;

/** A part that is chosen by `kind`; the kind checks the rest. */
const byKind = z.looseObject({ kind: z.string().min(1) });

/** A queue: the branch that it validates, where its builds run, and its limits. Names stand in ids and subjects. */
export const queueConfigShape = z.strictObject({
  project: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/, "a project's slug")
    .default("default"),
  runner: byKind,
  source: byKind.default({ kind: "given" }),
  /** Requests that are validated at once. */
  max_concurrent: z.number().int().min(1).max(1_000).default(1),
  /** How often a request that waits for a slot looks again. */
  gate_wait_delay_ms: milliseconds.min(1).default(5_000),
  /** A build that is not over by then is cancelled, and its request fails with `timed_out`. */
  max_validation_ms: milliseconds.min(1_000).default(6 * 3_600_000),
  /** No request is admitted for so long after one that failed. */
  cooldown_after_failure_ms: milliseconds.default(0),
  cadence: cadenceConfig,
  /** Handed to the runner with every build. */
  metadata: z.record(z.string(), z.string()).default({}),
});
export type QueueConfig = z.infer<typeof queueConfigShape>;

export const queueNameShape = z.string().regex(/^[A-Za-z0-9_-]{1,80}$/, "letters, digits, _ and -");

/** The file that MILLRACE_SIGNAL_CONFIG names. */
export const signalConfigShape = z.strictObject({
  queues: z.record(queueNameShape, queueConfigShape).default({}),
  topics: z
    .strictObject({
      process: topicSettingsShape,
      build: topicSettingsShape,
      buildsignal: topicSettings(pollsAtOnce),
      record: topicSettingsShape,
    })
    .prefault({}),
});
export type SignalConfig = z.infer<typeof signalConfigShape>;
