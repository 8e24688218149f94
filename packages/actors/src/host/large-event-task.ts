import type { LargeProjection, ProjectedLarge } from "../core/effects.ts";
import { projectLargeEvent } from "../project/large-event.ts";

/** Entry of a task thread: one large event in, its projection out. */
export default function runTask(large: LargeProjection): ProjectedLarge {
  return projectLargeEvent(large);
}
