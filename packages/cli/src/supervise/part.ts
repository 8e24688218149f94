import type { Clock } from "@millrace/base/clock";
import { type Latch, latch } from "@millrace/base/latch";
import type { Exit } from "../services/spawn-service.ts";
import {
  nextPartState,
  type PartEffect,
  type PartInput,
  type PartNews,
  type PartState,
} from "./part-states.ts";

/** A process that is ready. */
export interface RunningProcess {
  readonly pid: number;
  /** Resolves when the process has ended, whoever ended it. Never rejects. */
  readonly exited: Promise<Exit>;
  /** Asks it to finish what is in hand. */
  stop(): Promise<unknown>;
  /** Ends it at once. */
  kill(): void;
}

/** What is supervised. */
export interface PartSpec {
  readonly name: string;
  /**
   * Starts a process and resolves when it is ready; rejects with the reason when it does not become so. When
   * given up on, it may break off.
   */
  launch(givenUp: AbortSignal): Promise<RunningProcess>;
}

/** News of a part, with what is known of the cause. */
export type PartReport = PartNews & { readonly part: string; readonly cause: PartCause | undefined };

export type PartCause =
  | { readonly kind: "exit"; readonly exit: Exit }
  | { readonly kind: "error"; readonly error: unknown };

/** One process under supervision: starts it, sees it die, starts it again. */
export class Part {
  readonly name: string;
  readonly #spec: PartSpec;
  readonly #world: PartWorld;
  readonly #firstStart: Latch<void> = latch();
  readonly #end: Latch<void> = latch();
  #state: PartState = { kind: "idle" };
  #process: RunningProcess | undefined;
  #launching: AbortController | undefined;
  #cancelRest: () => void = () => {};
  #cause: PartCause | undefined;

  constructor(spec: PartSpec, world: PartWorld) {
    this.name = spec.name;
    this.#spec = spec;
    this.#world = world;
    // Who stops a part before it was ready may not be waiting for its start.
    this.#firstStart.promise.catch(() => {});
  }

  get state(): PartState {
    return this.#state;
  }

  /** The process that runs now, if one does. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Resolves when it is ready; rejects when its first start fails or is broken off. */
  start(): Promise<void> {
    this.#take({ kind: "start" });
    return this.#firstStart.promise;
  }

  /** Resolves when it has ended; it is not started again. */
  stop(): Promise<void> {
    this.#take({ kind: "stop" });
    return this.#end.promise;
  }

  /** Ends the process at once. Unless `stop` was called it is started again. */
  kill(): void {
    this.#launching?.abort();
    this.#process?.kill();
  }

  #take(input: PartInput): void {
    const step = nextPartState(this.#state, input, this.#world);
    this.#state = step.state;
    for (const effect of step.effects) this.#carryOut(effect);
  }

  #carryOut(effect: PartEffect): void {
    switch (effect.kind) {
      case "launch":
        void this.#launch();
        break;
      case "rest":
        this.#cancelRest = this.#world.clock.after(effect.delayMs, () => this.#take({ kind: "rested" }));
        break;
      case "cancel-rest":
        this.#cancelRest();
        break;
      case "end":
        this.#launching?.abort();
        void this.#process?.stop();
        break;
      case "tell":
        this.#tell(effect.news);
    }
  }

  async #launch(): Promise<void> {
    const launching = new AbortController();
    this.#launching = launching;
    try {
      this.#process = await this.#spec.launch(launching.signal);
    } catch (error) {
      this.#launching = undefined;
      this.#cause = { kind: "error", error };
      this.#firstStart.fail(error);
      this.#take({ kind: "did-not-come-up" });
      return;
    }
    this.#launching = undefined;
    const running = this.#process;
    this.#take({ kind: "came-up", atMs: this.#world.clock.monotonic() });
    this.#world.onProcess(this.name, running.pid);
    this.#firstStart.open();
    const exit = await running.exited;
    this.#process = undefined;
    this.#cause = { kind: "exit", exit };
    this.#take({ kind: "died", atMs: this.#world.clock.monotonic() });
  }

  #tell(news: PartNews): void {
    this.#world.onReport({ ...news, part: this.name, cause: this.#cause });
    if (news.kind === "stopped") this.#end.open();
  }
}

/** What a part needs of its surroundings. */
export interface PartWorld {
  readonly clock: Clock;
  readonly restarts: boolean;
  onReport(report: PartReport): void;
  /** A process is ready. */
  onProcess(part: string, pid: number): void;
}
