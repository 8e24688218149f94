import type { Clock } from "@millrace/base/clock";
import { type Latch, latch } from "@millrace/base/latch";
import { GroupGate } from "./group-gate.ts";
import { Flow, InboxItem, type WaitReason } from "./inbox-flow.ts";
import { flowOf, identityOf, type Reply, sizeOf, type Work } from "./work.ts";

export interface InboxLimits {
  /** What waits and what is being committed, together. One item alone is always taken. */
  readonly inboxBytesMax: number;
  readonly groupBytesMax: number;
  readonly groupBatchesMax: number;
}

/** An actor that is still there asks again sooner; what nobody asked for again in this time is forgotten. */
export const forgetAfterMs = 10_000;

const forgetEveryMs = 1_000;

/** Another process holds the rows: its transaction takes a few milliseconds. */
const busyDelayMs = 5;

/**
 * What waits for a transaction. Bounded by bytes; identical works share one place and are all answered; groups
 * are filled in turn by project and, within it, by invocation. Works of one invocation are never in two groups at
 * once, so that only other processes can hold its rows.
 */
export class Inbox {
  readonly #limits: InboxLimits;
  readonly #clock: Clock;
  readonly #flows = new Map<string, Flow>();
  /** Flows that have something to take, by project; a map keeps the order of insertion, which is the turn. */
  readonly #ready = new Map<string, Map<string, Flow>>();
  readonly #items = new Map<string, InboxItem>();
  readonly #gate: GroupGate;
  #bytes = 0;
  #forgottenAt = 0;
  #draining = false;
  #wake: Latch<void> = latch();

  constructor(limits: InboxLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
    this.#gate = new GroupGate(clock, () => this.#wakeAll());
  }

  /** Bytes held, waiting or being committed. */
  get bytes(): number {
    return this.#bytes;
  }

  get count(): number {
    return this.#items.size;
  }

  /** Takes a work in, or refuses it when the inbox is full: then `reply` is never called. */
  offer(work: Work, reply: (reply: Reply) => void): boolean {
    const now = this.#clock.now();
    const identity = identityOf(work);
    const known = this.#items.get(identity);
    if (known !== undefined) {
      known.ask(now, reply);
      this.#freshen(known.flow);
      return true;
    }
    if (now >= this.#forgottenAt + forgetEveryMs) this.#forgetOld(now);
    const bytes = sizeOf(work);
    if (this.#bytes > 0 && this.#bytes + bytes > this.#limits.inboxBytesMax) return false;
    const flow = this.#flowOf(work);
    const item = new InboxItem({ work, identity, bytes, flow, askedAt: now }, (it) => this.#remove(it));
    item.ask(now, reply);
    this.#items.set(identity, item);
    this.#bytes += bytes;
    flow.add(item);
    this.#freshen(flow);
    return true;
  }

  /** The next group, as soon as one may begin; undefined once the inbox is drained and empty. */
  async takeGroup(): Promise<readonly InboxItem[] | undefined> {
    for (;;) {
      const mayBegin = this.#draining || this.#gate.mayBegin({ works: this.#items.size, bytes: this.#bytes });
      const group = mayBegin ? this.#fillGroup() : [];
      if (group.length > 0) {
        this.#gate.begun(loadOf(group));
        return group;
      }
      if (this.#draining) return undefined;
      await this.#wake.promise;
    }
  }

  /** Ends a group: what waits comes back for the reason it says, all else is answered or forgotten. */
  settle(group: readonly InboxItem[]): void {
    this.#gate.ended(loadOf(group));
    const waits = new Map<Flow, WaitReason | undefined>();
    for (const item of group) {
      waits.set(item.flow, strongest(waits.get(item.flow), item.wait));
      if (item.wait === undefined) this.#remove(item);
      else item.flow.add(item);
      item.wait = undefined;
    }
    for (const [flow, wait] of waits) this.#settleFlow(flow, wait);
    this.#wakeAll();
  }

  /** Of a group that is tried again, what is undecided and still asked for. */
  keepUndecided(group: readonly InboxItem[]): InboxItem[] {
    const oldest = this.#clock.now() - forgetAfterMs;
    return group.filter((item) => item.isUndecided && item.askedAt >= oldest);
  }

  /** Nothing new is expected: `takeGroup` ends when all that can be committed is. */
  drain(): void {
    this.#draining = true;
    this.#wakeAll();
  }

  #flowOf(work: Work): Flow {
    const { project, flow: name } = flowOf(work);
    let flow = this.#flows.get(name);
    if (flow === undefined) {
      flow = new Flow(project, name);
      this.#flows.set(name, flow);
    }
    return flow;
  }

  #freshen(flow: Flow): void {
    flow.fresh = true;
    this.#makeReady(flow);
  }

  #makeReady(flow: Flow): void {
    if (!flow.isReady) return;
    const flows = this.#ready.get(flow.project) ?? new Map<string, Flow>();
    this.#ready.set(flow.project, flows);
    flows.set(flow.name, flow);
    this.#wakeAll();
  }

  #fillGroup(): InboxItem[] {
    const group: InboxItem[] = [];
    const taken = new Set<Flow>();
    let bytes = 0;
    while (this.#ready.size > 0) {
      for (const project of [...this.#ready.keys()]) {
        const flow = this.#nextFlow(project);
        const next = flow?.peek();
        if (flow === undefined || next === undefined) continue;
        const fits = bytes + next.bytes <= this.#limits.groupBytesMax;
        if (group.length > 0 && (!fits || group.length >= this.#limits.groupBatchesMax)) {
          return this.#close(group, taken);
        }
        group.push(next);
        bytes += next.bytes;
        taken.add(flow);
        this.#advance(project, flow);
      }
    }
    return this.#close(group, taken);
  }

  #nextFlow(project: string): Flow | undefined {
    const [flow] = this.#ready.get(project)?.values() ?? [];
    return flow;
  }

  /** Takes one item of the flow and puts both the flow and its project at the end of their turns. */
  #advance(project: string, flow: Flow): void {
    const flows = this.#ready.get(project);
    if (flows === undefined) return;
    flow.shift();
    flows.delete(flow.name);
    if (flow.peek() !== undefined) flows.set(flow.name, flow);
    this.#ready.delete(project);
    if (flows.size > 0) this.#ready.set(project, flows);
  }

  #close(group: InboxItem[], taken: ReadonlySet<Flow>): InboxItem[] {
    for (const flow of taken) {
      flow.inFlight = true;
      this.#unready(flow);
      if (flow.peek() === undefined) flow.fresh = false;
    }
    return group;
  }

  #unready(flow: Flow): void {
    const flows = this.#ready.get(flow.project);
    flows?.delete(flow.name);
    if (flows?.size === 0) this.#ready.delete(flow.project);
  }

  #settleFlow(flow: Flow, wait: WaitReason | undefined): void {
    flow.inFlight = false;
    if (wait === "next") flow.fresh = true;
    if (wait === "busy") this.#hold(flow);
    if (flow.peek() === undefined) this.#flows.delete(flow.name);
    else this.#makeReady(flow);
  }

  #hold(flow: Flow): void {
    flow.held = true;
    this.#clock.after(busyDelayMs, () => {
      flow.held = false;
      this.#freshen(flow);
    });
  }

  #remove(item: InboxItem): void {
    if (this.#items.get(item.identity) !== item) return;
    this.#items.delete(item.identity);
    this.#bytes -= item.bytes;
  }

  #forgetOld(now: number): void {
    this.#forgottenAt = now;
    for (const flow of [...this.#flows.values()]) {
      for (const item of flow.takeOlderThan(now - forgetAfterMs)) this.#remove(item);
      if (flow.peek() !== undefined || flow.inFlight) continue;
      this.#unready(flow);
      this.#flows.delete(flow.name);
    }
  }

  #wakeAll(): void {
    this.#wake.open();
    this.#wake = latch();
  }
}

function loadOf(group: readonly InboxItem[]): { works: number; bytes: number } {
  return { works: group.length, bytes: group.reduce((sum, item) => sum + item.bytes, 0) };
}

/** A row that is held elsewhere holds the whole invocation; otherwise what lets it go on soonest. */
function strongest(one: WaitReason | undefined, other: WaitReason | undefined): WaitReason | undefined {
  return (["busy", "next", "ahead"] as const).find((reason) => reason === one || reason === other);
}
