import { type Build, hasVerdict, isTerminalState, type ValidationRequest } from "../entities.ts";
import type { ModelDatabase } from "../model-store.fixture.ts";
import { isTerminalStatus } from "../runner.ts";

/** Watches the entities from step to step: what may never change does not. */
export class Watcher {
  readonly problems: string[] = [];
  readonly #database: ModelDatabase;
  readonly #limits: { maxConcurrent: number; isAtomic: boolean };
  #requests: Map<string, ValidationRequest> = new Map();
  #builds: Map<string, Build> = new Map();
  #factCount = 0;

  constructor(database: ModelDatabase, limits: { maxConcurrent: number; isAtomic: boolean }) {
    this.#database = database;
    this.#limits = limits;
  }

  look(): void {
    const { requests, builds, facts, queues } = this.#database;
    for (const [id, before] of this.#requests) {
      const now = requests.get(id);
      if (now !== before && isTerminalState(before.state) && now?.state !== before.state) {
        this.#say(`${id} was ${before.state} and is ${now?.state}`);
      }
    }
    for (const [id, before] of this.#builds) {
      if (builds.get(id) !== before && isTerminalStatus(before.status))
        this.#say(`${id} was terminal and changed`);
    }
    if (facts.size < this.#factCount) this.#say("a fact is gone");
    const slots = queues.get("main")?.slots ?? [];
    if (slots.length > this.#limits.maxConcurrent) this.#say(`${slots.length} slots are taken`);
    if (this.#limits.isAtomic) {
      const processing = [...requests.values()].filter((one) => one.state === "processing");
      const owners = slots.map((slot) => slot.owner).sort();
      const ids = processing.map((one) => one.id).sort();
      if (owners.join() !== ids.join()) this.#say(`slots of ${owners.join()}, in validation ${ids.join()}`);
    }
    this.#requests = new Map(requests);
    this.#builds = new Map(builds);
    this.#factCount = facts.size;
  }

  /** After everything has come to rest. */
  lookAtTheEnd(): void {
    const { requests, facts, queues, queue, uris } = this.#database;
    for (const row of queue.unfinished()) this.#say(`${row.topic} ${row.messageId} is unfinished`);
    for (const letter of queue.letters) {
      if (letter.state === "open") this.#say(`the dead letter ${letter.topic} ${letter.messageId} is open`);
    }
    for (const request of requests.values()) {
      if (!isTerminalState(request.state)) this.#say(`${request.id} is still ${request.state}`);
      const fact = facts.get(`main ${request.uri} `);
      if (hasVerdict(request) && fact === undefined) this.#say(`${request.id} has a verdict and no fact`);
      if (
        fact?.requestId === request.id &&
        (!hasVerdict(request) || (fact.degree === 0) !== (request.state === "succeeded"))
      ) {
        this.#say(`the fact of ${request.id} is not its verdict`);
      }
    }
    const row = queues.get("main");
    if (row !== undefined && row.slots.length > 0) this.#say(`slots are left: ${JSON.stringify(row.slots)}`);
    for (const uri of uris.values()) {
      if (!requests.has(uri.requestId)) this.#say(`${uri.uri} stands for ${uri.requestId}, which is missing`);
    }
    const green = row?.lastGreenUri ?? "";
    if (green !== "" && facts.get(`main ${green} `)?.degree !== 0)
      this.#say(`${green} is last green without a fact`);
  }

  #say(problem: string): void {
    if (this.problems.length < 10) this.problems.push(problem);
  }
}
