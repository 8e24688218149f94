import type { Dice } from "../../../../test/sim/dice.ts";
import type { BuildObservation, BuildRunner, TerminalStatus } from "../runner.ts";
import { RunnerError } from "../runner-error.ts";
import type { SourceControl } from "../source-control.ts";
import type { Life, Schedule } from "./schedule.fixture.ts";

interface SimBuild {
  readonly key: string;
  readonly endsAtMs: number;
  readonly end: TerminalStatus;
  readonly noVerdict: boolean;
  readonly isForgotten: boolean;
  isCancelled: boolean;
}

/** Where builds run, shared by all processes. It fails, forgets, hangs and lies about progress, by dice. */
export class SimProvider {
  readonly builds = new Map<string, SimBuild>();
  readonly promoted: string[] = [];
  #faultRate = 0.15;
  readonly #dice: Dice;
  readonly #schedule: Schedule;
  /** Whether a build can be found again by its key. */
  readonly #findsByKey: boolean;

  constructor(dice: Dice, schedule: Schedule) {
    this.#dice = dice;
    this.#schedule = schedule;
    this.#findsByKey = dice.happens(0.5);
  }

  calmDown(): void {
    this.#faultRate = 0;
  }

  runnerFor(life: Life): BuildRunner {
    return {
      trigger: async ({ key }) => {
        await this.#schedule.pause(life);
        const found = [...this.builds].find(([, build]) => build.key === key);
        if (this.#findsByKey && found !== undefined) return { buildId: found[0] };
        const kind = this.#fault();
        if (kind !== undefined) {
          const isStarted = kind === "uncertain" && this.#dice.happens(0.5);
          if (isStarted) this.#start(key);
          throw new RunnerError({ kind, message: `trigger: ${kind}` });
        }
        const buildId = this.#start(key);
        await this.#schedule.pause(life);
        return { buildId };
      },
      status: async (buildId) => {
        await this.#schedule.pause(life);
        const kind = this.#fault();
        if (kind !== undefined && kind !== "uncertain") throw new RunnerError({ kind, message: "status" });
        const observation = this.#observe(buildId);
        await this.#schedule.pause(life);
        return observation;
      },
      cancel: async (buildId) => {
        await this.#schedule.pause(life);
        const build = this.builds.get(buildId);
        if (build === undefined || this.#dice.happens(this.#faultRate)) throw new Error("not cancelled");
        build.isCancelled = true;
      },
    };
  }

  sourceFor(life: Life): SourceControl {
    return {
      head: async () => undefined,
      isAncestor: async () => {
        await this.#schedule.pause(life);
        if (this.#dice.happens(this.#faultRate / 3))
          throw new RunnerError({ kind: "transient", message: "git" });
        return this.#dice.happens(0.8);
      },
      promote: async (uri) => {
        await this.#schedule.pause(life);
        if (this.#dice.happens(this.#faultRate))
          throw new RunnerError({ kind: "transient", message: "push" });
        this.promoted.push(uri);
        return "promoted";
      },
    };
  }

  #fault(): "transient" | "uncertain" | "not_found" | undefined {
    if (!this.#dice.happens(this.#faultRate)) return undefined;
    return this.#dice.pick(["transient", "transient", "transient", "uncertain", "not_found"] as const);
  }

  #start(key: string): string {
    const buildId = `b${this.builds.size + 1}`;
    this.builds.set(buildId, {
      key,
      endsAtMs: this.#schedule.nowMs + this.#dice.between(0, this.#dice.happens(0.1) ? 200_000 : 20_000),
      end: this.#dice.pick(["succeeded", "succeeded", "failed", "cancelled"] as const) ?? "succeeded",
      noVerdict: this.#dice.happens(0.1),
      isForgotten: this.#dice.happens(0.03),
      isCancelled: false,
    });
    return buildId;
  }

  #observe(buildId: string): BuildObservation {
    const build = this.builds.get(buildId);
    if (build === undefined || build.isForgotten)
      throw new RunnerError({ kind: "not_found", message: buildId });
    if (this.#dice.happens(this.#faultRate)) return { status: "unknown" };
    if (build.isCancelled) return { status: "cancelled" };
    if (this.#schedule.nowMs < build.endsAtMs) {
      return { status: this.#dice.pick(["accepted", "running", "running"] as const) ?? "running" };
    }
    return { status: build.end, ...(build.noVerdict && { noVerdict: "skipped" }) };
  }
}
