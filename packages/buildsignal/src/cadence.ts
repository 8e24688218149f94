import type { Random } from "@millrace/base/random";
import { z } from "zod";
import type { StoredBuildStatus } from "./entities.ts";

const milliseconds = z.number().int().min(1);

/** How often a queue asks for its builds. */
export const cadenceConfig = z
  .strictObject({
    accepted_ms: milliseconds.default(5_000),
    running_ms: milliseconds.default(2_000),
    max_ms: milliseconds.default(60_000),
    /** The delay's factor for each poll in a row that found the same status. */
    growth: z.number().min(1).max(10).default(1),
    /** A part of the delay, added or taken off by chance. */
    jitter: z.number().min(0).max(0.5).default(0.1),
  })
  .prefault({});
export type Cadence = z.infer<typeof cadenceConfig>;

/**
 * Milliseconds until the next poll, after `polls` in a row that found this status (the first is 0). What the provider
 * asks for is a lower bound and may exceed the cadence's maximum.
 */
export function pollDelayMs(
  cadence: Cadence,
  at: { status: StoredBuildStatus; polls: number; retryAfterMs?: number | undefined; random: Random },
): number {
  const base = at.status === "running" ? cadence.running_ms : cadence.accepted_ms;
  const grown = Math.min(cadence.max_ms, base * cadence.growth ** at.polls);
  const jittered = grown * (1 + cadence.jitter * (2 * at.random.fraction() - 1));
  return Math.max(1, Math.round(jittered), at.retryAfterMs ?? 0);
}
