import { ConfigError } from "@millrace/base/config";
import { errorText, MillraceError } from "@millrace/base/errors";
import type { Log } from "@millrace/base/log";
import { type QueueConfig, queueConfigShape, queueNameShape } from "./queue-config.ts";
import type { QueueConfigStore, StoredQueueConfig } from "./queue-config-store.ts";
import { type ConfiguredQueue, openQueue, type QueueDirectory, type QueueParts } from "./queue-directory.ts";

/**
 * A configuration that came over the API. What would run a program on the controller's machine or write to its disk can be
 * set in the file only. Fails with a `ConfigError` that names every problem.
 */
export function readGivenConfig(name: string, config: unknown): QueueConfig {
  const named = queueNameShape.safeParse(name);
  if (!named.success) throw new ConfigError([`queue ${JSON.stringify(name)}: letters, digits, _ and -`]);
  const parsed = queueConfigShape.safeParse(config);
  if (!parsed.success) {
    throw new ConfigError(
      parsed.error.issues.map((issue) => `queue ${name}, ${issue.path.join(".")}: ${issue.message}`),
    );
  }
  const local = localParts(parsed.data);
  if (local.length > 0) throw new ConfigError(local.map((part) => `queue ${name}, ${part}`));
  return parsed.data;
}

function localParts({ runner, source }: QueueConfig): string[] {
  const start = runner["start"];
  const isCommand =
    typeof start === "object" && start !== null && "kind" in start && start.kind === "command";
  return [
    ...(isCommand ? ["runner.start: a command can be set in the controller's file only"] : []),
    ...(source.kind === "git" ? ["source: a git source can be set in the controller's file only"] : []),
  ];
}

/**
 * The queues of the file and those that the API set, as they are now. A queue of the file wins. One whose stored
 * configuration does not work here (a secret that this process does not have) is left out and told in the log.
 */
export class LiveQueues {
  readonly #file: QueueDirectory;
  readonly #parts: QueueParts;
  readonly #store: QueueConfigStore;
  readonly #log: Log;
  readonly #now: Map<string, ConfiguredQueue>;
  readonly #stamps = new Map<string, string>();
  #turn: Promise<void> = Promise.resolve();

  constructor(of: { file: QueueDirectory; parts: QueueParts; store: QueueConfigStore; log: Log }) {
    this.#file = of.file;
    this.#parts = of.parts;
    this.#store = of.store;
    this.#log = of.log;
    this.#now = new Map(of.file);
  }

  /** Always the same object; its content changes. */
  get directory(): QueueDirectory {
    return this.#now;
  }

  /** What the API asks for, checked with everything this process knows; nothing is kept of it. */
  check(name: string, config: unknown): QueueConfig {
    const read = readGivenConfig(name, config);
    openQueue({ name, config: read }, this.#parts);
    return read;
  }

  /** Reads what the API has set, one time after the other. A failure of the database is the caller's. */
  reload(): Promise<void> {
    const mine = this.#turn.then(() => this.#reload());
    this.#turn = mine.catch(() => {});
    return mine;
  }

  /**
   * Reads again because of a queue that is not known here. Fails, retryably, when it is configured and does not work in
   * this process: another one may do better, and what waits for it is not given up at once.
   */
  async lookFor(name: string): Promise<void> {
    await this.reload();
    if (!this.#stamps.has(name) || this.#now.has(name)) return;
    const message = `the queue ${name} is configured and cannot be used in this process: its log says why`;
    throw new MillraceError({ remedy: "retry", code: "queue-unusable-here", message });
  }

  async #reload(): Promise<void> {
    const stored = (await this.#store.list()).filter(({ name }) => !this.#file.has(name));
    const names = new Set(stored.map(({ name }) => name));
    for (const name of this.#stamps.keys()) {
      if (!names.has(name)) this.#drop(name);
    }
    for (const one of stored) {
      if (this.#stamps.get(one.name) !== one.stamp) this.#take(one);
    }
  }

  #drop(name: string): void {
    this.#stamps.delete(name);
    this.#now.delete(name);
  }

  #take({ name, config, stamp }: StoredQueueConfig): void {
    this.#drop(name);
    this.#stamps.set(name, stamp);
    try {
      this.#now.set(name, openQueue({ name, config: readGivenConfig(name, config) }, this.#parts));
    } catch (error) {
      this.#log.error("a queue cannot be used here", { queue: name, error: errorText(error) });
    }
  }
}
