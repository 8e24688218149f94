import { assert } from "@millrace/base/assert";
import { eventOverheadBytes, largeEventBytes } from "../thread-messages.ts";

/** All in bytes. */
export interface BudgetLimits {
  readonly streamBytesMax: number;
  /** What streams with events in memory share evenly, once they are so many that each would have less than its bound. */
  readonly sharedBytesMax: number;
  readonly projectBytesMax: number;
  readonly processBytesMax: number;
  /** For messages above 1 MB together, from their first byte until their event is released. */
  readonly largeBytesMax: number;
}

/** A share is never smaller: a batch of small events, and what the network delivers at once. */
const shareBytesMin = 64 * 1024;

/** What the budget tells the stream that holds an account. */
export interface AccountHolder {
  /** The message that had to wait may be taken: ask again, the answer will be yes. */
  readonly resume: () => void;
  /** The process is full and this is the newest large stream: end it. */
  readonly shed: () => void;
}

/** What one stream has in memory. Made by `ByteBudget.open`, changed by the budget alone. */
export interface StreamAccount {
  readonly connection: number;
  /** Bytes received and not released, each event with its overhead. */
  readonly inFlight: number;
  readonly isClosed: boolean;
}

interface Pot {
  inUse: number;
  readonly max: number;
}

interface LargeEntry {
  readonly cost: number;
  /** Free again once this much of the stream has been released: a stream is released in order. */
  readonly releasedAt: number;
}

type Obstacle = "stream" | "project" | "large" | "process";

class Account implements StreamAccount {
  readonly connection: number;
  readonly project: Pot;
  readonly holder: AccountHolder;
  inFlight = 0;
  isClosed = false;
  isShed = false;
  /** Cost of the message that is being received. */
  receiving = 0;
  /** Cost of the message that was not admitted. */
  waiting = 0;
  obstacle: Obstacle | undefined;
  /** The waiting message is charged and only has to be taken. */
  isGranted = false;
  charged = 0;
  released = 0;
  readonly large: LargeEntry[] = [];

  constructor(at: { connection: number; project: Pot; holder: AccountHolder }) {
    this.connection = at.connection;
    this.project = at.project;
    this.holder = at.holder;
  }
}

/**
 * Bounds the memory of received events, by stream, project and process. A message is admitted when its length is
 * known, before its bytes are taken, and costs its length + 256 until its event is released. In each bound one
 * message that alone is larger is let in. What is not admitted waits, in order; a stream waits for one message.
 */
export class ByteBudget {
  private readonly limits: BudgetLimits;
  private readonly process: Pot;
  private readonly gate: Pot;
  private readonly projects = new Map<string, Pot>();
  private readonly accounts = new Set<Account>();
  /** Those whom another stream's release may help, first come first. */
  private readonly queue = new Set<Account>();
  /** Streams with bytes in flight. */
  private busyStreams = 0;
  private isWaking = false;
  private mustWakeAgain = false;

  constructor(limits: BudgetLimits) {
    this.limits = limits;
    this.process = { inUse: 0, max: limits.processBytesMax };
    this.gate = { inUse: 0, max: limits.largeBytesMax };
  }

  /** Bytes in flight of the process. */
  get inFlight(): number {
    return this.process.inUse;
  }

  /** Bytes of large messages in flight. */
  get largeInFlight(): number {
    return this.gate.inUse;
  }

  /** How many streams wait for others to release memory. */
  get waitingStreams(): number {
    return this.queue.size;
  }

  open(stream: { connection: number; project: string; holder: AccountHolder }): StreamAccount {
    let project = this.projects.get(stream.project);
    if (project === undefined) {
      project = { inUse: 0, max: this.limits.projectBytesMax };
      this.projects.set(stream.project, project);
    }
    const account = new Account({ ...stream, project });
    this.accounts.add(account);
    return account;
  }

  /** Charges a message of that length, or makes its stream wait: `holder.resume` says when to ask again. */
  admit(stream: StreamAccount, messageBytes: number): boolean {
    const account = asAccount(stream);
    const cost = messageBytes + eventOverheadBytes;
    if (account.isGranted) return takeGrant(account, cost);
    assert(account.receiving === 0, "a stream receives one message at a time");
    if (account.isClosed || account.waiting > 0) return false;
    const obstacle = this.obstacleOf(account, cost);
    if (obstacle === undefined) {
      this.charge(account, cost);
      return true;
    }
    account.waiting = cost;
    this.wait(account, obstacle);
    if (obstacle === "process") this.shedFor(account);
    // Whoever had to go may have left enough.
    return account.isGranted && takeGrant(account, cost);
  }

  /** The message admitted last has arrived and holds an event of `eventBytes`: only that is kept. */
  settle(stream: StreamAccount, eventBytes: number): void {
    const account = asAccount(stream);
    const cost = eventBytes + eventOverheadBytes;
    const difference = cost - account.receiving;
    const isLarge = account.receiving > largeEventBytes;
    account.receiving = 0;
    this.take(account, difference);
    if (isLarge) account.large.push({ cost: cost - difference, releasedAt: account.charged });
    if (difference < 0) this.freed(account);
  }

  /** The events of these costs need no memory any more. */
  release(stream: StreamAccount, bytes: number): void {
    const account = asAccount(stream);
    assert(bytes <= account.inFlight - account.receiving, "no more is released than was taken");
    this.giveBack(account, bytes);
    this.freed(account);
  }

  /** Nothing more is received; what was handed on stays charged until it is released. */
  close(stream: StreamAccount): void {
    const account = asAccount(stream);
    if (account.isClosed) return;
    account.isClosed = true;
    account.waiting = 0;
    this.queue.delete(account);
    if (account.receiving > largeEventBytes) this.gate.inUse -= account.receiving;
    this.giveBack(account, account.receiving);
    account.receiving = 0;
    this.freed(account);
  }

  /** Closes the stream and releases all it holds: whoever had its events is gone. */
  forget(stream: StreamAccount): void {
    this.close(stream);
    this.release(stream, stream.inFlight);
  }

  private obstacleOf(account: Account, cost: number): Obstacle | undefined {
    if (account.inFlight > 0 && account.inFlight + cost > this.streamBound()) return "stream";
    if (isOver(account.project, cost)) return "project";
    if (cost > largeEventBytes && (isOver(this.gate, cost) || this.mustQueueForGate(account))) return "large";
    if (isOver(this.process, cost)) return "process";
    return undefined;
  }

  /**
   * What a stream may hold now. A thousand streams that send all they have are no faster for 4 MiB each: the
   * memory would only age.
   */
  private streamBound(): number {
    const { streamBytesMax, sharedBytesMax } = this.limits;
    const share = Math.max(shareBytesMin, sharedBytesMax / Math.max(1, this.busyStreams));
    return Math.min(streamBytesMax, share);
  }

  /** The gate is passed strictly in order, or a very large message could wait for ever behind smaller ones. */
  private mustQueueForGate(account: Account): boolean {
    for (const other of this.queue) {
      if (other === account) return false;
      if (other.obstacle === "large") return true;
    }
    return false;
  }

  private charge(account: Account, cost: number): void {
    account.receiving = cost;
    this.take(account, cost);
    if (cost > largeEventBytes) this.gate.inUse += cost;
  }

  private take(account: Account, bytes: number): void {
    this.change(account, bytes);
    account.charged += bytes;
  }

  private giveBack(account: Account, bytes: number): void {
    this.change(account, -bytes);
    account.released += bytes;
  }

  private change(account: Account, bytes: number): void {
    if (account.inFlight > 0) this.busyStreams -= 1;
    account.inFlight += bytes;
    if (account.inFlight > 0) this.busyStreams += 1;
    account.project.inUse += bytes;
    this.process.inUse += bytes;
  }

  private freed(account: Account): void {
    for (;;) {
      const first = account.large[0];
      if (first === undefined || account.released < first.releasedAt) break;
      this.gate.inUse -= first.cost;
      account.large.shift();
    }
    if (account.isClosed && account.inFlight === 0) this.accounts.delete(account);
    if (account.waiting > 0 && account.obstacle === "stream") this.retry(account);
    if (this.queue.size > 0) this.wake();
  }

  /** Resuming a stream takes its message, which may free memory and come back here: one loop serves all. */
  private wake(): void {
    this.mustWakeAgain = true;
    if (this.isWaking) return;
    this.isWaking = true;
    while (this.mustWakeAgain) {
      this.mustWakeAgain = false;
      for (const account of [...this.queue]) {
        if (!this.queue.has(account)) continue;
        this.retry(account);
        // Where a small message does not fit nothing does.
        if (account.obstacle === "process" && account.waiting <= largeEventBytes) break;
      }
    }
    this.isWaking = false;
  }

  private retry(account: Account): void {
    const cost = account.waiting;
    const obstacle = this.obstacleOf(account, cost);
    if (obstacle !== undefined) return this.wait(account, obstacle);
    this.queue.delete(account);
    account.waiting = 0;
    account.obstacle = undefined;
    this.charge(account, cost);
    account.isGranted = true;
    account.holder.resume();
  }

  private wait(account: Account, obstacle: Obstacle): void {
    account.obstacle = obstacle;
    if (obstacle !== "stream") this.queue.add(account);
  }

  /**
   * The process is full. A stream with little in memory just waits: it costs nothing, and during an outage a
   * resumed stream must not drive out others. For a large one the newest large stream has to go.
   */
  private shedFor(asking: Account): void {
    if (asking.inFlight + asking.waiting <= largeEventBytes) return;
    let leaving = 0;
    let newest = asking;
    for (const account of this.accounts) {
      if (account.isShed) leaving += account.inFlight;
      else if (account.inFlight > largeEventBytes && account.connection > newest.connection) newest = account;
    }
    if (this.process.inUse - leaving + asking.waiting <= this.process.max) return;
    newest.isShed = true;
    newest.holder.shed();
  }
}

function takeGrant(account: Account, cost: number): true {
  assert(account.receiving === cost, "a stream asks again for the message it waited for");
  account.isGranted = false;
  return true;
}

function asAccount(stream: StreamAccount): Account {
  assert(stream instanceof Account, "an account comes from the budget");
  return stream;
}

function isOver(pot: Pot, cost: number): boolean {
  return pot.inUse > 0 && pot.inUse + cost > pot.max;
}
