import { Dice } from "../../../../test/sim/dice.ts";
import { ModelDatabase } from "../model-store.fixture.ts";
import { buildsignalMessage, processMessage, recordMessage } from "../topics.ts";
import { Watcher } from "./checks.fixture.ts";
import { Schedule } from "./schedule.fixture.ts";
import { SimProcess, type SimWorld } from "./sim-process.fixture.ts";
import { SimProvider } from "./sim-runner.fixture.ts";

export interface SimResult {
  readonly problems: readonly string[];
  /** How often each thing happened, so that a test sees that it did. */
  readonly counts: Readonly<Record<string, number>>;
}

const turnsMax = 60_000;
const processCount = 2;

/** One seeded history: heads are announced while processes are killed, messages come twice, runners and database fail. */
export async function simulate(seed: number): Promise<SimResult> {
  const dice = new Dice(seed);
  const schedule = new Schedule(dice);
  const database = new ModelDatabase(() => schedule.nowMs);
  const world: SimWorld = {
    ...{ dice, schedule, database },
    provider: new SimProvider(dice, schedule),
    isAtomic: seed % 2 === 0,
    maxConcurrent: dice.between(1, 3),
    failureRate: dice.happens(0.5) ? 0.01 : 0,
    broken: [],
  };
  const watcher = new Watcher(database, world);
  const story = new Story(world);
  for (let turn = 0; ; turn += 1) {
    if (turn === turnsMax) return { problems: ["it does not come to rest"], counts: story.counts };
    if (!story.isOver) story.maybe();
    else if (story.isAtRest()) break;
    if (!(await schedule.turn())) story.wakeAll();
    watcher.look();
  }
  watcher.lookAtTheEnd();
  return {
    problems: [...watcher.problems, ...world.broken],
    counts: { ...story.counts, ...endCounts(database) },
  };
}

function endCounts(database: ModelDatabase): Record<string, number> {
  const counts: Record<string, number> = {
    letters: database.queue.letters.length,
    facts: database.facts.size,
  };
  for (const { state, reason } of database.requests.values()) {
    const name = reason === null ? state : `${state} ${reason}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** What happens from outside, by dice, until there is nothing left to happen. */
class Story {
  readonly counts: Record<string, number> = {
    kills: 0,
    duplicates: 0,
    secondBuilds: 0,
    jumps: 0,
    announcements: 0,
  };
  readonly #world: SimWorld;
  #processes: SimProcess[];
  #headsLeft: number;
  #faultsLeft: number;
  #announcing = 0;

  constructor(world: SimWorld) {
    this.#world = world;
    this.#headsLeft = world.dice.between(1, 8);
    this.#faultsLeft = world.dice.between(0, 12);
    this.#processes = Array.from({ length: processCount }, () => this.#newProcess());
    this.wakeAll();
  }

  get isOver(): boolean {
    return this.#headsLeft === 0 && this.#faultsLeft === 0;
  }

  isAtRest(): boolean {
    return this.#announcing === 0 && this.#world.database.queue.unfinished().length === 0;
  }

  wakeAll(): void {
    for (const process of this.#processes) process.wake();
  }

  maybe(): void {
    const { dice } = this.#world;
    if (this.#headsLeft > 0 && this.#announcing === 0 && dice.happens(0.05)) {
      this.#headsLeft -= 1;
      const isOld = dice.happens(0.2);
      void this.#announce(`commit-${isOld ? 1 : this.#headsLeft}`);
    }
    if (this.#faultsLeft > 0 && dice.happens(0.01)) {
      this.#faultsLeft -= 1;
      this.#fault();
    }
    if (this.isOver) {
      this.#world.provider.calmDown();
      this.#world.failureRate = 0;
    }
  }

  async #announce(uri: string): Promise<void> {
    this.#announcing += 1;
    this.#count("announcements");
    for (let isDone = false; !isDone; ) {
      const process = this.#world.dice.pick(this.#processes);
      isDone = (await process?.announce(uri)) ?? false;
    }
    this.#announcing -= 1;
  }

  #fault(): void {
    const { dice, database, schedule } = this.#world;
    const kind = dice.between(0, 9);
    if (kind < 5) {
      const at = dice.between(0, processCount - 1);
      this.#processes[at]?.kill();
      this.#processes[at] = this.#newProcess();
      this.#processes[at]?.wake();
      this.#count("kills");
    } else if (kind < 7) this.#duplicate();
    else if (kind < 9) this.#secondBuild();
    else {
      schedule.wallOffsetMs += dice.between(-30_000, 90_000);
      this.#count("jumps");
    }
    for (const row of database.queue.unfinished()) if (row.failures > 1_000) throw new Error("runaway");
  }

  /** Any message about anything that exists may come once more. */
  #duplicate(): void {
    const { dice, database } = this.#world;
    const request = dice.pick([...database.requests.values()]);
    const build = dice.pick([...database.builds.values()]);
    if (build !== undefined && dice.happens(0.5)) database.queue.publish(buildsignalMessage(build));
    else if (request !== undefined) {
      const isRecorded = request.state !== "accepted" && request.state !== "processing";
      database.queue.publish(
        isRecorded && dice.happens(0.5) ? recordMessage(request) : processMessage(request),
      );
    }
    this.#count("duplicates");
    this.wakeAll();
  }

  /** A request gets another build, as a later phase would give it. */
  #secondBuild(): void {
    const { dice, database } = this.#world;
    const build = dice.pick([...database.builds.values()]);
    if (build === undefined) return;
    const id = `${build.id}-again`;
    if (database.builds.has(id)) return;
    const second = { ...build, id, status: "accepted", reason: null, version: 1 } as const;
    void database.exclusively(async () => {
      database.builds.set(id, second);
      database.queue.publish(buildsignalMessage(second));
      this.wakeAll();
    });
    this.#count("secondBuilds");
  }

  #newProcess(): SimProcess {
    return new SimProcess(this.#world, () => this.wakeAll());
  }

  #count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }
}
