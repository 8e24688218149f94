import type { RunnerWorld } from "../runner.ts";
import { RunnerError } from "../runner-error.ts";

/** The named credential without the line break that files end in. Fails with `invalid` when there is none. */
export function neededSecret(world: Pick<RunnerWorld, "secret">, name: string): string {
  const value = world.secret(name)?.trim();
  if (value) return value;
  throw new RunnerError({
    kind: "invalid",
    message: `The credential ${JSON.stringify(name)} is missing from the file of secrets, or empty.`,
  });
}
