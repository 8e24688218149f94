import type net from "node:net";
import { type Clock, systemClock } from "@millrace/base/clock";
import { MillraceError } from "@millrace/base/errors";
import { drizzle, type PostgresJsDatabase } from "drizzle-orm/postgres-js";
import { type ConnectSettings, type Executor, openPool, type Sql } from "./connect.ts";
import { sqlState } from "./errors.ts";
import { commitInDoubt } from "./in-doubt.ts";

/**
 * One connection for transactions, with the three things that `sql.begin` of postgres.js 3.4.9 lacks:
 *
 * - A COMMIT whose answer is lost is told apart (`in-doubt`) from one that failed.
 * - A server that goes away inside a transaction fails it. There, `sql.begin` writes its rollback to a socket
 *   that is null and takes the process down.
 * - A deadline on our side, for a server that neither answers nor closes.
 */
export interface Lane {
  /**
   * Runs `work` in a READ COMMITTED transaction; transactions of one lane run one after another. Fails with the
   * error of the first statement that failed, or with a `MillraceError` of code `in-doubt` when COMMIT was sent
   * and not answered: it may or may not have happened.
   */
  transact<T>(work: (tx: LaneTransaction) => Promise<T>, steps?: CommitSteps): Promise<T>;
  close(): Promise<void>;
}

export interface LaneTransaction extends Executor {
  /** Drizzle on the lane's connection. */
  readonly orm: PostgresJsDatabase;
}

/** Called around COMMIT, for fail points. */
export interface CommitSteps {
  sent(): Promise<void> | void;
  answered(): Promise<void> | void;
}

export interface LaneSettings extends Omit<ConnectSettings, "max"> {
  /** No statement runs, waits for a lock or idles longer; a lost transaction frees its locks after this. */
  readonly timeoutMs?: number;
}

const defaultTimeoutMs = 5_000;
/** A server that has been silent for so many timeouts is given up. */
const silentTimeouts = 3;

export function openLane(settings: LaneSettings, clock: Clock = systemClock): Lane {
  const timeoutMs = settings.timeoutMs ?? defaultTimeoutMs;
  const beginText = beginWithin(timeoutMs);
  let socket: net.Socket | undefined;
  let turn: Promise<unknown> = Promise.resolve();
  let running: Run | undefined;
  const pool = openPool({ ...settings, max: 1, onSocket: (opened) => (socket = opened) });
  const unsafe: Executor["unsafe"] = (text, parameters, options) => {
    if (running === undefined) throw connectionLost();
    return running.unsafe(text, parameters, options);
  };
  // Drizzle uses no more of a client than these two.
  const orm = drizzle({ unsafe, options: pool.options } as unknown as Sql);

  const transact: Lane["transact"] = async (work, steps) => {
    const cancel = clock.after(silentTimeouts * timeoutMs, () => socket?.destroy(connectionLost()));
    try {
      // A reservation that has to open the connection itself is never answered (postgres.js 3.4.9 without
      // `fetch_types`). For the same reason one waits for its turn here and not in the pool.
      if (!isOpen(socket)) await openConnection(pool);
      running = new Run({ reserved: await pool.reserve(), socket, beginText });
      return await running.transact({ work: () => work({ unsafe, orm }), steps });
    } finally {
      running = undefined;
      cancel();
    }
  };
  return {
    transact: (work, steps) => {
      const mine = turn.then(() => transact(work, steps));
      turn = mine.catch(() => {});
      return mine;
    },
    close: () => pool.end({ timeout: 5 }),
  };
}

/** Tries twice: postgres.js 3.4.9 fails the first statement of a new connection with the last error of the old one. */
async function openConnection(pool: Sql): Promise<void> {
  try {
    await pool.unsafe(planSettings);
  } catch {
    await pool.unsafe(planSettings);
  }
}

/**
 * Statements of a lane are prepared ones that look rows up by key. Their plan is made once and has to be right when
 * the tables have grown, but it is made when they are empty: then the planner would take a sequential scan.
 */
const planSettings = [
  "set plan_cache_mode = force_generic_plan",
  "set enable_seqscan = off",
  "set enable_hashjoin = off",
  "set enable_mergejoin = off",
  "set jit = off",
].join("; ");

function isOpen(socket: net.Socket | undefined): boolean {
  return socket !== undefined && !socket.destroyed;
}

/** One message, so that it costs no round trip of its own: the first statement follows it unawaited. */
function beginWithin(timeoutMs: number): string {
  return [
    "begin isolation level read committed",
    `set local statement_timeout = ${timeoutMs}`,
    `set local lock_timeout = ${timeoutMs}`,
    `set local idle_in_transaction_session_timeout = ${timeoutMs}`,
  ].join("; ");
}

type Reserved = Awaited<ReturnType<Sql["reserve"]>>;

/** One transaction on a reserved connection. */
class Run {
  readonly #beginText: string;
  readonly #reserved: Reserved;
  readonly #socket: net.Socket | undefined;
  #isOver = false;

  constructor(on: { reserved: Reserved; socket: net.Socket | undefined; beginText: string }) {
    this.#beginText = on.beginText;
    this.#reserved = on.reserved;
    this.#socket = on.socket;
  }

  /** Sends a statement of the transaction. One that comes after its end would be committed by itself. */
  readonly unsafe: Executor["unsafe"] = (text, parameters, options) => {
    if (this.#isOver || !this.#isAlive()) throw connectionLost();
    return this.#reserved.unsafe(text, parameters, options);
  };

  async transact<T>(what: { work: () => Promise<T>; steps: CommitSteps | undefined }): Promise<T> {
    let result: T;
    try {
      // At once: a query that is only awaited is sent a moment later, behind the first statement, whose locks would
      // then be gone before the second.
      const begun = this.unsafe(this.#beginText).execute();
      [result] = await Promise.all([what.work(), begun]);
    } catch (error) {
      await this.#rollBack();
      throw error;
    }
    await this.#commit(what.steps);
    return result;
  }

  async #commit(steps?: CommitSteps): Promise<void> {
    let command: string;
    try {
      const answer = Promise.resolve(this.unsafe("commit"));
      this.#isOver = true;
      if (steps !== undefined) await Promise.all([steps.sent(), answer]);
      command = (await answer).command;
    } catch (error) {
      if (!isRefusal(error)) {
        await this.#rollBack();
        throw commitInDoubt(error);
      }
      this.#release();
      throw error;
    }
    await steps?.answered();
    this.#release();
    if (command !== "COMMIT") throw rolledBack();
  }

  async #rollBack(): Promise<void> {
    this.#isOver = true;
    try {
      if (!this.#isAlive()) return;
      await this.#reserved.unsafe("rollback");
      this.#release();
    } catch {
      // The server has rolled back by itself, and postgres.js has taken the connection back. Releasing it would
      // offer a closed connection to the next statement.
      this.#socket?.destroy();
    }
  }

  #release(): void {
    if (this.#isAlive()) this.#reserved.release();
  }

  #isAlive(): boolean {
    return isOpen(this.#socket);
  }
}

function rolledBack(): MillraceError {
  const message = "COMMIT was answered with ROLLBACK";
  return new MillraceError({ remedy: "retry", code: "rolled-back", message });
}

/** COMMIT was answered: a serialization failure or a deferred constraint. */
function isRefusal(error: unknown): boolean {
  const state = sqlState(error);
  return state.startsWith("40") || state.startsWith("23");
}

function connectionLost(): MillraceError {
  const message = "the connection to the database was lost";
  return new MillraceError({ remedy: "retry", code: "connection-lost", message });
}
