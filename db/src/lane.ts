import type net from "node:net";
import { type Clock, systemClock } from "@millrace/base/clock";
import { MillraceError } from "@millrace/base/errors";
import { latch } from "@millrace/base/latch";
import { drizzle, type PostgresJsDatabase } from "drizzle-orm/postgres-js";
import { type ConnectSettings, type Executor, openPool, type Sql } from "./connect.ts";
import { sqlState } from "./errors.ts";
import { commitInDoubt } from "./in-doubt.ts";

/**
 * One connection for transactions, with the four things that `sql.begin` of postgres.js 3.4.9 lacks:
 *
 * - A COMMIT whose answer is lost is told apart (`in-doubt`) from one that failed.
 * - A server that goes away inside a transaction fails it. There, `sql.begin` writes its rollback to a socket
 *   that is null and takes the process down.
 * - A lost connection fails the transaction whatever it waits for. There, a statement behind a COPY is held back in
 *   a queue that nobody empties when the connection dies: it is never answered.
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
  const pool = openPool({ ...settings, max: 1, onSocket: (opened) => (socket = opened) });
  const transact: Lane["transact"] = async (work, steps) => {
    const tooLong = latch<never>();
    tooLong.promise.catch(() => {});
    const cancel = clock.after(silentTimeouts * timeoutMs, () => {
      socket?.destroy(connectionLost());
      tooLong.fail(connectionLost());
    });
    try {
      // A reservation that has to open the connection itself is never answered (postgres.js 3.4.9 without
      // `fetch_types`). For the same reason one waits for its turn here and not in the pool.
      if (!isOpen(socket)) await Promise.race([openConnection(pool), tooLong.promise]);
      const reserved = await reserve(pool, tooLong.promise);
      const run = new Run({ reserved, socket, beginText, tooLong: tooLong.promise });
      // Its own: what a failed transaction still wants to say must not become part of the next one.
      return await run.transact({ work: () => work(transactionOn(run, pool)), steps });
    } finally {
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

/** A reservation that is answered when nobody waits for it any more is given back. */
async function reserve(pool: Sql, tooLong: Promise<never>): Promise<Reserved> {
  const reserving = pool.reserve();
  let isAwaited = true;
  reserving.then(
    (reserved) => isAwaited || reserved.release(),
    () => {},
  );
  try {
    return await Promise.race([reserving, tooLong]);
  } catch (error) {
    isAwaited = false;
    throw error;
  }
}

function transactionOn(run: Run, pool: Sql): LaneTransaction {
  const { unsafe } = run;
  let orm: PostgresJsDatabase | undefined;
  return {
    unsafe,
    get orm() {
      // Drizzle uses no more of a client than these two.
      orm ??= drizzle({ unsafe, options: pool.options } as unknown as Sql);
      return orm;
    },
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
  /** Rejects when the connection is lost, or there was no answer for too long. */
  readonly #lost: Promise<never>;
  readonly #onClose: () => void;
  #isOver = false;

  constructor(on: {
    reserved: Reserved;
    socket: net.Socket | undefined;
    beginText: string;
    tooLong: Promise<never>;
  }) {
    this.#beginText = on.beginText;
    this.#reserved = on.reserved;
    this.#socket = on.socket;
    const lost = latch<never>();
    // A turn later: what postgres.js says about it tells more.
    this.#onClose = () => void setImmediate(() => lost.fail(connectionLost()));
    if (isOpen(on.socket)) on.socket?.once("close", this.#onClose);
    else this.#onClose();
    this.#lost = Promise.race([on.tooLong, lost.promise]);
    this.#lost.catch(() => {});
  }

  /** Sends a statement of the transaction. One that comes after its end would be committed by itself. */
  readonly unsafe: Executor["unsafe"] = (text, parameters, options) => {
    if (this.#isOver || !this.#isAlive()) throw connectionLost();
    return this.#reserved.unsafe(text, parameters, options);
  };

  async transact<T>(what: { work: () => Promise<T>; steps: CommitSteps | undefined }): Promise<T> {
    try {
      return await this.#transact(what);
    } finally {
      this.#socket?.off("close", this.#onClose);
    }
  }

  async #transact<T>(what: { work: () => Promise<T>; steps: CommitSteps | undefined }): Promise<T> {
    let result: T;
    try {
      // At once: a query that is only awaited is sent a moment later, behind the first statement, whose locks would
      // then be gone before the second.
      const begun = this.unsafe(this.#beginText).execute();
      [result] = await Promise.race([Promise.all([what.work(), begun]), this.#lost]);
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
      if (steps !== undefined) await Promise.race([Promise.all([steps.sent(), answer]), this.#lost]);
      command = (await Promise.race([answer, this.#lost])).command;
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
      await Promise.race([this.#reserved.unsafe("rollback"), this.#lost]);
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
