import { ConfigError } from "@millrace/base/config";
import { errorText, MillraceError } from "@millrace/base/errors";
import { z } from "zod";
import type { QueueConfig, SignalConfig } from "./queue-config.ts";
import type { BuildRunner, RunnerKind, RunnerWorld } from "./runner.ts";
import type { SourceControl } from "./source-control.ts";

/** A queue of the configuration, ready to be used. */
export interface ConfiguredQueue {
  readonly name: string;
  readonly config: QueueConfig;
  readonly runner: BuildRunner;
  readonly source: SourceControl;
}

export type QueueDirectory = ReadonlyMap<string, ConfiguredQueue>;

/** A kind with its own type of configuration hidden, so that kinds can stand in one list. */
export interface AnyKind<T> {
  readonly kind: string;
  create(config: unknown, world: RunnerWorld): T;
}

/** What a kind of source control is made of, as `RunnerKind` for runners. */
export interface SourceKind<C extends { kind: string }> {
  readonly kind: C["kind"];
  readonly config: z.ZodType<C>;
  create(config: C, world: RunnerWorld): SourceControl;
}

/** The kind as something that parses its own configuration. */
export function anyRunner<C extends { kind: string }>(kind: RunnerKind<C>): AnyKind<BuildRunner> {
  return { kind: kind.kind, create: (config, world) => kind.create(kind.config.parse(config), world) };
}

export function anySource<C extends { kind: string }>(kind: SourceKind<C>): AnyKind<SourceControl> {
  return { kind: kind.kind, create: (config, world) => kind.create(kind.config.parse(config), world) };
}

/** What queues are made with. */
export interface QueueParts {
  readonly runners: readonly AnyKind<BuildRunner>[];
  readonly sources: readonly AnyKind<SourceControl>[];
  readonly world: RunnerWorld;
}

/** Makes every queue's runner and source; all problems of the configuration are named in one `ConfigError`. */
export function openQueues(config: SignalConfig, parts: QueueParts): QueueDirectory {
  const problems: string[] = [];
  const directory = new Map<string, ConfiguredQueue>();
  for (const [name, queue] of Object.entries(config.queues)) {
    try {
      directory.set(name, openQueue({ name, config: queue }, parts));
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(...error.problems);
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return directory;
}

/** Makes one queue's runner and source. Fails with a `ConfigError`. */
export function openQueue(of: { name: string; config: QueueConfig }, parts: QueueParts): ConfiguredQueue {
  const { name, config } = of;
  const problems: string[] = [];
  const at = (part: string): string => `queue ${name}, ${part}`;
  const { world } = parts;
  const runner = make(parts.runners, { config: config.runner, at: at("runner"), world, problems });
  const source = make(parts.sources, { config: config.source, at: at("source"), world, problems });
  if (runner === undefined || source === undefined) throw new ConfigError(problems);
  return { name, config, runner, source };
}

function make<T>(
  kinds: readonly AnyKind<T>[],
  from: { config: { kind: string }; at: string; world: RunnerWorld; problems: string[] },
): T | undefined {
  const kind = kinds.find((one) => one.kind === from.config.kind);
  if (kind === undefined) {
    const known = kinds.map((one) => one.kind).join(", ");
    from.problems.push(`${from.at}: there is no kind ${from.config.kind}; there are ${known}`);
    return undefined;
  }
  try {
    return kind.create(from.config, from.world);
  } catch (error) {
    from.problems.push(
      `${from.at}: ${error instanceof z.ZodError ? z.prettifyError(error) : errorText(error)}`,
    );
    return undefined;
  }
}

/** The queue of that name; a message about one that is not configured is not tried again. */
export function configured(queues: QueueDirectory, name: string): ConfiguredQueue {
  const queue = queues.get(name);
  if (queue !== undefined) return queue;
  throw new MillraceError({
    remedy: "reject",
    code: "unknown-queue",
    message: `the queue ${JSON.stringify(name)} is not configured`,
  });
}
