import { MillraceError } from "@millrace/base/errors";
import { noFailPoints } from "@millrace/base/fail-points";
import { silentLog } from "@millrace/base/log";
import type { Dice } from "../../../../test/sim/dice.ts";
import type { StageContext } from "../controllers/context.ts";
import { ingest } from "../controllers/ingest.ts";
import { type ModelDatabase, modelStore } from "../model-store.fixture.ts";
import { Consumers } from "../queue/consumers.ts";
import type { QueueStore } from "../queue/message.ts";
import { noQueueMetrics } from "../queue/metrics.ts";
import { topicSettingsShape } from "../queue/topic-settings.ts";
import { queueConfig } from "../stage-bench.fixture.ts";
import { noStageMetrics } from "../stage-metrics.ts";
import { stageSubscriptions } from "../stages.ts";
import type { Life, Schedule } from "./schedule.fixture.ts";
import type { SimProvider } from "./sim-runner.fixture.ts";

/** What all processes of a simulation share. */
export interface SimWorld {
  readonly dice: Dice;
  readonly schedule: Schedule;
  readonly database: ModelDatabase;
  readonly provider: SimProvider;
  readonly isAtomic: boolean;
  readonly maxConcurrent: number;
  /** How often an operation of the database fails. */
  failureRate: number;
  readonly broken: string[];
}

/** One process: the real consumers and stages on the model of the database. */
export class SimProcess {
  readonly life: Life = { isDead: false };
  readonly #consumers: Consumers;
  readonly #context: StageContext;
  readonly #world: SimWorld;

  constructor(world: SimWorld, onPublished: () => void) {
    this.#world = world;
    const { database, dice, schedule, provider, isAtomic, maxConcurrent } = world;
    const step = async (): Promise<void> => {
      await schedule.pause(this.life);
      if (!dice.happens(world.failureRate)) return;
      throw new MillraceError({ remedy: "retry", code: "database-away", message: "the database is away" });
    };
    const clock = schedule.clockOf(this.life);
    const random = {
      bytes: (n: number) => dice.bytes(n),
      uuid: () => "uuid",
      fraction: () => dice.fraction(),
    };
    const config = queueConfig({
      max_concurrent: maxConcurrent,
      gate_wait_delay_ms: 1_000,
      max_validation_ms: 60_000,
      cooldown_after_failure_ms: dice.happens(0.5) ? 500 : 0,
    });
    const runner = provider.runnerFor(this.life);
    const source = provider.sourceFor(this.life);
    this.#context = {
      store: modelStore(database, { step, isAtomic, onPublished }),
      queues: new Map([["main", { name: "main", config, runner, source }]]),
      metrics: noStageMetrics,
      points: noFailPoints,
      log: silentLog,
      who: "sim",
      clock,
      random,
    };
    const settings = topicSettingsShape.parse({ attempts_max: 3, visibility_ms: 5_000, concurrency: 4 });
    this.#consumers = new Consumers(
      stageSubscriptions(this.#context, () => settings),
      {
        queue: this.#queue(step),
        metrics: noQueueMetrics,
        log: silentLog,
        fail: (error) => world.broken.push(error.message),
        clock,
        random,
      },
    );
  }

  wake(): void {
    if (!this.life.isDead) this.#consumers.wake();
  }

  /** Announces a head; a process that dies or fails meanwhile is asked again by whoever announces. */
  async announce(uri: string): Promise<boolean> {
    try {
      await ingest(this.#context, { queue: "main", uri }, new AbortController().signal);
      return true;
    } catch {
      return false;
    }
  }

  kill(): void {
    this.#world.schedule.kill(this.life);
  }

  #queue(step: () => Promise<void>): QueueStore {
    const { queue } = this.#world.database;
    return {
      claim: async (asks) => {
        await step();
        return queue.claim(asks);
      },
      finish: async (finished) => {
        await step();
        const result = queue.finish(finished);
        // COMMIT may be done and its answer lost.
        await step();
        return result;
      },
      extend: async (deliveries, visibilityMs) => {
        await step();
        queue.extend(deliveries, visibilityMs);
      },
    };
  }
}
