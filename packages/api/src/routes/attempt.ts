import { type AttemptName, type AttemptRow, readAttempt } from "../queries/attempts.ts";
import type { Viewer } from "../viewer.ts";
import { maySee } from "../viewer.ts";
import { notFound } from "../web/problem.ts";
import type { ApiParts } from "./api.ts";

/** The attempt that a request names, or the answer that it is not there. */
export async function attemptOr404(
  parts: ApiParts,
  viewer: Viewer,
  name: AttemptName,
): Promise<AttemptRow | Response> {
  const row = maySee(viewer, name.project) ? await readAttempt(parts.orm, viewer, name) : undefined;
  return row ?? notFound("The invocation");
}
