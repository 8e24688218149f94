import {
  type ClaimAsk,
  type Claimed,
  type Delivery,
  deadGroupOf,
  deadTopicOf,
  type Finish,
  type Finished,
  type NewMessage,
  originGroupOf,
  originOf,
  type Published,
} from "./message.ts";

interface Row {
  readonly id: number;
  readonly topic: string;
  readonly group: string;
  readonly key: string;
  readonly messageId: string;
  readonly payload: unknown;
  readonly metadata: Readonly<Record<string, string>>;
  readonly once: boolean;
  dueMs: number;
  isBarrier: boolean;
  failures: number;
  holds: number;
  heldSinceMs: number | undefined;
  isDone: boolean;
}

export interface Letter {
  readonly topic: string;
  readonly group: string;
  readonly key: string;
  readonly messageId: string;
  state: "open" | "reconciled";
  occurrences: number;
  failures: number;
  readonly firstReason: string;
  lastReason: string;
}

interface Next {
  readonly row: Row;
  readonly atMs: number;
  readonly hasLapsed: boolean;
}

/** The queue's rules without a database: a list that is searched. Time and groups come from the test. */
export class ModelQueue {
  readonly letters: Letter[] = [];
  rows: Row[] = [];
  /** The delivery in somebody's hands, by partition. */
  readonly handled = new Map<string, { id: number; receipt: string; lapsesMs: number }>();
  /** What comes next in each partition that is in nobody's hands; decided when something about it changes. */
  readonly #heads = new Map<string, Row>();
  readonly #now: () => number;
  readonly #groupsOf: (topic: string) => readonly string[];
  #lastId = 0;

  constructor(world: { now: () => number; groupsOf: (topic: string) => readonly string[] }) {
    this.#now = world.now;
    this.#groupsOf = world.groupsOf;
  }

  publish(message: NewMessage): Published {
    const groups = this.#groupsOf(message.topic);
    const isSame = (row: Row): boolean =>
      row.topic === message.topic && row.key === message.key && row.messageId === message.id;
    const isTaken = this.rows.some(
      (row) => isSame(row) && (row.isDone ? (message.once ?? false) : groups.includes(row.group)),
    );
    if (isTaken) return "duplicate";
    for (const group of groups) this.#add({ ...message, group });
    return "published";
  }

  claim(asks: readonly ClaimAsk[]): Claimed {
    const deliveries: Delivery[] = [];
    const exhausted: Delivery[] = [];
    // What becomes a dead letter by this claim is handed to its reconciler by the next one.
    const due = asks.map((ask) => ({ ask, nexts: this.#due(ask).slice(0, ask.room) }));
    for (const { ask, nexts } of due) {
      for (const next of nexts) {
        const delivery = this.#handOver(next, ask);
        if (delivery.attempt <= ask.attemptsMax) deliveries.push(delivery);
        else {
          exhausted.push(delivery);
          const given = { ...delivery, attempt: delivery.attempt - 1 };
          this.finish([{ delivery: given, finish: { kind: "dead", reason: "lapsed" } }]);
        }
      }
    }
    const dues = asks.flatMap((ask) => this.#nextOf(ask).map((next) => next.atMs));
    const nextDueInMs = dues.length === 0 ? undefined : Math.max(0, Math.min(...dues) - this.#now());
    return { deliveries, exhausted, nextDueInMs };
  }

  finish(finished: readonly Finished[]): { wereStored: boolean[]; nextDueInMs: number | undefined } {
    const wereStored = finished.map(({ delivery, finish }) => {
      const partition = partitionOf(delivery);
      if (this.handled.get(partition)?.receipt !== delivery.receipt) return false;
      this.handled.delete(partition);
      const row = this.rows.find((one) => one.id === delivery.id);
      if (row !== undefined) this.#apply(row, { delivery, finish });
      this.#chooseHead(delivery);
      return true;
    });
    return { wereStored, nextDueInMs: wereStored.includes(true) ? 0 : undefined };
  }

  extend(deliveries: readonly Delivery[], visibilityMs: number): void {
    for (const delivery of deliveries) {
      const held = this.handled.get(partitionOf(delivery));
      if (held?.receipt === delivery.receipt) held.lapsesMs = this.#now() + visibilityMs;
    }
  }

  /** Deliveries that no group has finished. */
  unfinished(): readonly Row[] {
    return this.rows.filter((row) => !row.isDone);
  }

  #add(one: Omit<NewMessage, "once"> & { group: string; once?: boolean }): void {
    const row: Row = {
      id: ++this.#lastId,
      topic: one.topic,
      group: one.group,
      key: one.key,
      messageId: one.id,
      payload: one.payload,
      metadata: one.metadata ?? {},
      once: one.once ?? false,
      dueMs: this.#now(),
      isBarrier: false,
      failures: 0,
      holds: 0,
      heldSinceMs: undefined,
      isDone: false,
    };
    this.rows.push(row);
    if (!this.handled.has(partitionOf(row))) this.#chooseHead(row);
  }

  #chooseHead(of: { topic: string; group: string; key: string }): void {
    const partition = partitionOf(of);
    const rows = this.rows.filter((row) => !row.isDone && partitionOf(row) === partition);
    const stop = rows.findIndex((row) => row.isBarrier || row.dueMs <= this.#now());
    const reachable = stop === -1 ? rows : rows.slice(0, stop + 1);
    const dueMs = (row: Row): number => Math.max(row.dueMs, this.#now());
    const [first, ...others] = reachable;
    if (first === undefined) this.#heads.delete(partition);
    else
      this.#heads.set(
        partition,
        others.reduce((best, row) => (dueMs(row) < dueMs(best) ? row : best), first),
      );
  }

  /** What is next in each partition of the topic, and when. */
  #nextOf(ask: ClaimAsk): Next[] {
    const mine = this.rows.filter((row) => !row.isDone && row.topic === ask.topic && row.group === ask.group);
    return [...Map.groupBy(mine, partitionOf)].flatMap(([partition, rows]): Next[] => {
      const handled = this.handled.get(partition);
      const inHand = rows.find((row) => row.id === handled?.id);
      if (handled !== undefined && inHand !== undefined) {
        return [{ row: inHand, atMs: handled.lapsesMs, hasLapsed: true }];
      }
      const head = this.#heads.get(partition);
      return head === undefined ? [] : [{ row: head, atMs: head.dueMs, hasLapsed: false }];
    });
  }

  #due(ask: ClaimAsk): Next[] {
    return this.#nextOf(ask)
      .filter((next) => next.atMs <= this.#now())
      .sort((a, b) => a.atMs - b.atMs);
  }

  #handOver(next: Next, ask: ClaimAsk): Delivery {
    const { row } = next;
    if (next.hasLapsed) {
      Object.assign(row, { failures: row.failures + 1, holds: 0, heldSinceMs: undefined, isBarrier: false });
    }
    const receipt = `receipt-${++this.#lastId}`;
    this.handled.set(partitionOf(row), { id: row.id, receipt, lapsesMs: this.#now() + ask.visibilityMs });
    const { id, topic, group, key, messageId, payload, metadata, once, failures, holds } = row;
    return {
      ...{ id, topic, group, key, messageId, payload, metadata, once, holds, receipt },
      attempt: failures + 1,
      heldForMs: row.heldSinceMs === undefined ? 0 : this.#now() - row.heldSinceMs,
      lateMs: next.hasLapsed ? 0 : this.#now() - next.atMs,
    };
  }

  #apply(row: Row, { delivery, finish }: Finished): void {
    if (finish.kind === "dead") this.#bury(row, { delivery, reason: finish.reason });
    else if (finish.kind === "done") this.#end(row);
    else Object.assign(row, afterWait(row, finish, this.#now()));
  }

  #end(row: Row): void {
    if (row.once) row.isDone = true;
    else this.rows = this.rows.filter((other) => other !== row);
    const topic = originOf(row.topic);
    const letter = this.letters.find(
      (one) =>
        one.topic === topic &&
        one.group === originGroupOf(row.group) &&
        one.key === row.key &&
        one.messageId === row.messageId,
    );
    if (letter !== undefined) letter.state = "reconciled";
  }

  #bury(row: Row, why: { delivery: Delivery; reason: string }): void {
    this.rows = this.rows.filter((other) => other !== row);
    const { topic, group, key, messageId } = row;
    const failures = why.delivery.attempt;
    const letter = this.letters.find(
      (one) => one.topic === topic && one.group === group && one.key === key && one.messageId === messageId,
    );
    if (letter === undefined) {
      const reasons = { firstReason: why.reason, lastReason: why.reason };
      this.letters.push({
        ...{ topic, group, key, messageId, failures, occurrences: 1, state: "open" },
        ...reasons,
      });
    } else {
      Object.assign(letter, { state: "open", failures, lastReason: why.reason });
      letter.occurrences += 1;
    }
    const to = { topic: deadTopicOf(topic), group: deadGroupOf(group) };
    const isThere = this.rows.some(
      (one) =>
        one.topic === to.topic && one.group === to.group && one.key === key && one.messageId === messageId,
    );
    if (!isThere)
      this.#add({ ...to, key, id: messageId, payload: row.payload as object, metadata: row.metadata });
  }
}

function afterWait(row: Row, finish: Finish, nowMs: number): Partial<Row> {
  if (finish.kind === "hold") {
    return {
      dueMs: nowMs + finish.delayMs,
      isBarrier: true,
      failures: 0,
      holds: finish.fresh ? 1 : row.holds + 1,
      heldSinceMs: row.heldSinceMs ?? nowMs,
    };
  }
  if (finish.kind === "retry") {
    return {
      dueMs: nowMs + finish.delayMs,
      isBarrier: finish.isBarrier,
      failures: row.failures + 1,
      holds: 0,
      heldSinceMs: undefined,
    };
  }
  return { dueMs: nowMs, isBarrier: false };
}

function partitionOf(one: { topic: string; group: string; key: string }): string {
  return `${one.topic} ${one.group} ${one.key}`;
}
