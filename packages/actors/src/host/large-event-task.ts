import { loadZstd } from "@millrace/base/zstd";
import type { LargeProjection, ProjectedLarge } from "../core/effects.ts";
import { workOnLargeEvent } from "./large-event-work.ts";

const zstd = await loadZstd();

/** Entry of a task thread: one large event in, what is to be stored of it out. */
export default function runTask(large: LargeProjection): Promise<ProjectedLarge> {
  return workOnLargeEvent(zstd, large);
}
