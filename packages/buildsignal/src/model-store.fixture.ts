import type {
  Build,
  RequestLogEntry,
  RequestUri,
  SignalQueue,
  ValidationFact,
  ValidationRequest,
} from "./entities.ts";
import type { NewMessage, Published } from "./queue/message.ts";
import { ModelQueue } from "./queue/model-queue.fixture.ts";
import type { SignalFact, SignalReads, SignalStore, SignalWrites } from "./store.ts";
import { groupsOf } from "./topics.ts";

type Entity = { readonly version: number };

/** Entities and messages in memory, shared by every process of a test. */
export class ModelDatabase {
  queues = new Map<string, SignalQueue>();
  requests = new Map<string, ValidationRequest>();
  builds = new Map<string, Build>();
  uris = new Map<string, RequestUri>();
  facts = new Map<string, ValidationFact>();
  readonly log: RequestLogEntry[] = [];
  readonly announced: SignalFact[] = [];
  readonly published: NewMessage[] = [];
  /** Every write that changed something, by name and key. */
  readonly writes: string[] = [];
  readonly queue: ModelQueue;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(now: () => number) {
    this.queue = new ModelQueue({ now, groupsOf });
  }

  /** One transaction after the other. */
  exclusively<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work);
    this.#turn = mine.catch(() => {});
    return mine;
  }
}

/** What happens around each operation of a process: a pause, a failure, a crash. */
export type Step = (operation: string, key: string) => Promise<void>;

/**
 * A process's store. Atomic: the writes of a transaction appear together at its end or not at all. Otherwise each
 * appears at once, and a crash leaves the ones before it.
 */
export function modelStore(
  database: ModelDatabase,
  how: { step: Step; isAtomic: boolean; onPublished?: () => void },
): SignalStore {
  const reads = readsOf(database, how.step);
  const published = (): void => how.onPublished?.();
  return {
    ...reads,
    polledBuild: async (id) => {
      const build = await reads.build(id);
      if (build === undefined) return undefined;
      return { build, request: await reads.request(build.requestId) };
    },
    transact: async (work) => {
      if (!how.isAtomic) {
        const result = await work(writesOf(database, how.step));
        published();
        return result;
      }
      return await database.exclusively(async () => {
        const draft = draftOf(database);
        const result = await work(writesOf(draft, how.step));
        await how.step("commit", "");
        commit(database, draft);
        published();
        return result;
      });
    },
  };
}

type Draft = Pick<
  ModelDatabase,
  "queues" | "requests" | "builds" | "uris" | "facts" | "log" | "announced" | "published" | "writes"
> & { queue: Pick<ModelQueue, "publish"> };

function draftOf(database: ModelDatabase): Draft {
  return {
    queues: new Map(database.queues),
    requests: new Map(database.requests),
    builds: new Map(database.builds),
    uris: new Map(database.uris),
    facts: new Map(database.facts),
    log: [],
    announced: [],
    published: [],
    writes: [],
    queue: { publish: (): Published => "published" },
  };
}

function commit(database: ModelDatabase, draft: Draft): void {
  const { queues, requests, builds, uris, facts } = draft;
  Object.assign(database, { queues, requests, builds, uris, facts });
  database.log.push(...draft.log);
  database.announced.push(...draft.announced);
  database.writes.push(...draft.writes);
  for (const message of draft.published) {
    database.published.push(message);
    database.queue.publish(message);
  }
}

function readsOf(from: Draft, step: Step): SignalReads {
  return {
    queue: async (name) => {
      await step("queue", name);
      return from.queues.get(name);
    },
    request: async (id) => {
      await step("request", id);
      return from.requests.get(id);
    },
    build: async (id) => {
      await step("build", id);
      return from.builds.get(id);
    },
    requestUri: async (queue, uri) => {
      await step("requestUri", uri);
      return from.uris.get(`${queue} ${uri}`);
    },
    fact: async (queue, uri, part) => {
      await step("fact", uri);
      return from.facts.get(`${queue} ${uri} ${part}`);
    },
  };
}

function writesOf(to: Draft, step: Step): SignalWrites {
  const create =
    <E>(name: string, map: () => Map<string, E>, keyOf: (entity: E) => string) =>
    async (entity: E): Promise<boolean> => {
      const key = keyOf(entity);
      await step(name, key);
      if (map().has(key)) return false;
      map().set(key, entity);
      to.writes.push(`${name} ${key}`);
      return true;
    };
  const update =
    <E extends Entity>(name: string, map: () => Map<string, E>, keyOf: (entity: E) => string) =>
    async (entity: E): Promise<boolean> => {
      const key = keyOf(entity);
      await step(name, key);
      if (map().get(key)?.version !== entity.version - 1) return false;
      map().set(key, entity);
      to.writes.push(`${name} ${key}`);
      return true;
    };
  const byName = (queue: SignalQueue): string => queue.name;
  const byId = (entity: { id: string }): string => entity.id;
  const byUri = (row: { queue: string; uri: string }): string => `${row.queue} ${row.uri}`;
  return {
    ...readsOf(to, step),
    createQueue: create("createQueue", () => to.queues, byName),
    updateQueue: update("updateQueue", () => to.queues, byName),
    createRequest: create("createRequest", () => to.requests, byId),
    updateRequest: update("updateRequest", () => to.requests, byId),
    createBuild: create("createBuild", () => to.builds, byId),
    updateBuild: update("updateBuild", () => to.builds, byId),
    createRequestUri: create("createRequestUri", () => to.uris, byUri),
    updateRequestUri: update("updateRequestUri", () => to.uris, byUri),
    createFact: create(
      "createFact",
      () => to.facts,
      (fact: ValidationFact) => `${byUri(fact)} ${fact.part}`,
    ),
    publish: async (message) => {
      await step(`publish ${message.topic}`, message.id);
      to.published.push(message);
      to.writes.push(`publish ${message.topic} ${message.id}`);
      return to.queue.publish(message);
    },
    appendLog: async (entry) => {
      await step("appendLog", entry.requestId);
      to.log.push(entry);
    },
    announce: async (fact) => {
      await step("announce", fact.subject);
      to.announced.push(fact);
    },
  };
}
