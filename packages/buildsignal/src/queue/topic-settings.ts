import { z } from "zod";

const milliseconds = z.number().int().min(0);

/** How the deliveries of a topic are handled; `concurrency` is the default of that field. */
export function topicSettings(concurrency: number) {
  return z
    .strictObject({
      /** Handlers of a process that run at once. */
      concurrency: z.number().int().min(1).max(10_000).default(concurrency),
      /** Attempts before a delivery becomes a dead letter. */
      attempts_max: z.number().int().min(1).max(1_000).default(8),
      /** A delivery that nobody finishes or renews for so long comes again. */
      visibility_ms: milliseconds.min(100).default(60_000),
      /** A handler that takes longer is told to stop, and its visibility is not renewed any more. */
      handler_ms_max: milliseconds.min(100).default(300_000),
      retry_initial_ms: milliseconds.default(1_000),
      retry_multiplier: z.number().min(1).default(2),
      retry_ms_max: milliseconds.default(30_000),
      /** 0: exactly that delay; 1: anything between none and it. */
      retry_jitter: z.number().min(0).max(1).default(0.2),
      /** Whether those behind a delivery that failed wait for its retry. */
      retry_order: z.enum(["skip", "barrier"]).default("skip"),
      /** A delivery that is held longer than this in a row becomes a dead letter; absent: never. */
      held_ms_max: milliseconds.optional(),
    })
    .prefault({});
}

/** For a topic whose handlers mostly wait for the database. */
export const topicSettingsShape = topicSettings(64);
export type TopicSettings = z.infer<typeof topicSettingsShape>;

/** A reconciler is tried for ever: its topic's dead letters have nowhere to go. */
export const attemptsForEver = 2_147_483_647;

export function reconcilerSettings(settings: TopicSettings): TopicSettings {
  const { held_ms_max: _, ...rest } = settings;
  return { ...rest, attempts_max: attemptsForEver, retry_ms_max: 60_000 };
}
