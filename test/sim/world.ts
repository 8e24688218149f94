import { shardOf } from "@millrace/proto/tokens";
import { attemptsOf, checkAcked, checkAttempt, checkFinished } from "./checkers.ts";
import { Dice } from "./dice.ts";
import { FaultCounter } from "./faults.ts";
import { ModelDatabase } from "./model-database.ts";
import { Script } from "./script.ts";
import { makeBuild, type SimBuild } from "./sim-build.ts";
import { SimNetwork } from "./sim-bus.ts";
import { SimClient } from "./sim-client.ts";
import { SimNode } from "./sim-node.ts";
import { SimWriter } from "./sim-writer.ts";

const faultsEndMs = 20_000;
const timeMaxMs = 900_000;
const stepsMax = 400_000;

/** What a run came to. `problems` is empty when every promise was kept. */
export interface RunResult {
  readonly seed: number;
  readonly problems: readonly string[];
  readonly faults: FaultCounter;
  readonly steps: number;
}

/** Two front doors, two writers, one database, a handful of uploaders, and everything that can go wrong. */
export async function simulate(seed: number): Promise<RunResult> {
  return new World(seed).run();
}

class World {
  private readonly seed: number;
  readonly dice: Dice;
  readonly script: Script;
  readonly faults = new FaultCounter();
  readonly database = new ModelDatabase();
  readonly network: SimNetwork;
  private readonly clients: SimClient[];
  readonly shards: readonly number[];
  private nodes: SimNode[];
  private writers: SimWriter[];
  private readonly problems: string[] = [];
  private connections = 0;
  private born = 0;

  constructor(seed: number) {
    this.seed = seed;
    this.dice = new Dice(seed);
    this.script = new Script(this.dice);
    this.network = new SimNetwork(this);
    const builds = makeBuilds(this.dice);
    this.shards = [...new Set(builds.map((build) => shardOf(build.project, build.invocationId)))];
    this.nodes = [this.startNode(), this.startNode()];
    this.writers = [this.startWriter(), this.startWriter()];
    this.clients = builds.map(
      (build) =>
        new SimClient(build, {
          script: this.script,
          dice: this.dice,
          nodes: () => this.nodes,
          number: () => ++this.connections,
          onAck: (client) => this.problems.push(...checkAcked(this.database, client)),
        }),
    );
  }

  async run(): Promise<RunResult> {
    this.scheduleFault();
    this.script.after(faultsEndMs, () => {
      this.network.faulty = false;
    });
    const isDone = await this.script.run({
      isDone: () => this.problems.length > 0 || this.clients.every((client) => client.isDone),
      untilMs: timeMaxMs,
      stepsMax,
    });
    this.judge(isDone);
    return { seed: this.seed, problems: this.problems, faults: this.faults, steps: this.script.steps };
  }

  private judge(isDone: boolean): void {
    for (const client of this.clients) {
      this.problems.push(...client.complaints, ...checkAcked(this.database, client));
      const check = client.isDone && isDone ? checkFinished : this.checkUnfinished;
      this.problems.push(...check(this.database, client.build));
      if (!isDone && !client.isDone) {
        this.problems.push(
          `${client.build.name}: no progress, acked ${client.ackedTo} of ${client.build.events.length}`,
        );
      }
    }
  }

  private readonly checkUnfinished = (database: ModelDatabase, build: SimBuild): string[] =>
    attemptsOf(database, build).flatMap((row) => checkAttempt(database, row, build));

  private startNode(): SimNode {
    return new SimNode(`node-${++this.born}`, this);
  }

  private startWriter(): SimWriter {
    return new SimWriter(`writer-${++this.born}`, this);
  }

  private scheduleFault(): void {
    this.script.after(this.dice.between(200, 1_500), () => {
      if (this.script.time >= faultsEndMs) return;
      this.breakSomething();
      this.scheduleFault();
    });
  }

  private breakSomething(): void {
    const kind = this.dice.between(0, 9);
    if (kind <= 3) this.cutConnection();
    else if (kind <= 5) this.crashWriter();
    else if (kind === 6) this.crashNode();
    else this.stall();
  }

  private cutConnection(): void {
    if (this.dice.pick(this.clients)?.cut() === true) this.faults.met("connection-cut");
  }

  private crashWriter(): void {
    const victim = this.dice.pick(this.writers);
    if (victim === undefined) return;
    victim.crash();
    this.writers = this.writers.filter((writer) => writer !== victim);
    this.faults.met("writer-crash");
    this.script.after(this.dice.between(300, 3_000), () => this.writers.push(this.startWriter()));
  }

  private crashNode(): void {
    const victim = this.dice.pick(this.nodes);
    if (victim === undefined) return;
    this.nodes = this.nodes.filter((node) => node !== victim);
    victim.crash();
    this.faults.met("front-door-crash");
    this.script.after(this.dice.between(300, 3_000), () => this.nodes.push(this.startNode()));
  }

  /** SIGSTOP of a node or writer. A stalled node whose clients go elsewhere is a zombie owner when it wakes. */
  private stall(): void {
    const victim = this.dice.pick([...this.nodes, ...this.writers]);
    if (victim === undefined) return;
    victim.process.stalledUntilMs = this.script.time + this.dice.between(500, 12_000);
    this.faults.met("node-stalled");
    for (const client of this.clients) if (this.dice.happens(0.5)) client.cut();
  }
}

/** Two uploaders of one invocation id, the same id in another project, and a build by itself. */
function makeBuilds(dice: Dice): SimBuild[] {
  const build = (name: string, project: string, invocationId: string): SimBuild =>
    makeBuild(dice, { name, project, invocationId, buildId: `build-of-${name}` });
  return [
    build("first", "default", "shared-id"),
    build("second", "default", "shared-id"),
    build("elsewhere", "other", "shared-id"),
    build("alone", "default", "own-id"),
  ];
}
