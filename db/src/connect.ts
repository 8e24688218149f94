import net from "node:net";
import { drizzle, type PostgresJsDatabase } from "drizzle-orm/postgres-js";
import postgres from "postgres";
import { arrayTypes } from "./array-types.ts";

/** How numbers travel: a bigint as a JavaScript number. */
interface Types extends Record<string, unknown> {
  int8: number;
}

/** postgres.js: for COPY and for statements whose text is fixed. */
export type Sql = postgres.Sql<Types>;

/** What statements need of a connection; a pool and a reserved connection both have it. */
export type Executor = Pick<Sql, "unsafe">;

/** A pool of connections, bare and with Drizzle bound to it. */
export interface Database {
  readonly sql: Sql;
  readonly orm: PostgresJsDatabase;
  /** Waits up to 5 s for running statements, then closes. */
  close(): Promise<void>;
}

/**
 * Settings of a pool. `url` is `postgres://user:password@host:port/database`, hosts separated by commas are
 * tried in turn; with `?host=/run/postgresql` the Unix socket in that directory is used instead.
 */
export interface ConnectSettings {
  readonly url: string;
  /** Most connections held. */
  readonly max: number;
  /** Shown in `pg_stat_activity`. */
  readonly name: string;
  /** Off behind a transaction-mode pooler without prepared statements. */
  readonly prepare?: boolean;
}

const connectTimeoutSeconds = 5;
const closeTimeoutSeconds = 5;
const reconnectDelaySecondsMax = 2;

/**
 * Opens a pool. Nothing is connected before the first statement, and a server that goes away is connected to
 * again by later ones.
 */
export function connect(settings: ConnectSettings): Database {
  const sql = openPool(settings);
  return { sql, orm: drizzle(sql), close: () => sql.end({ timeout: closeTimeoutSeconds }) };
}

/** A bare pool; `onSocket` sees each of its sockets before it connects. */
export function openPool(settings: ConnectSettings & { onSocket?: (socket: net.Socket) => void }): Sql {
  const { url, unixDirectory } = splitUnixDirectory(settings.url);
  let attempt = 0;
  const options = {
    max: settings.max,
    prepare: settings.prepare ?? true,
    connect_timeout: connectTimeoutSeconds,
    backoff: (retries: number) => Math.min(0.05 * 2 ** retries, reconnectDelaySecondsMax),
    // Renewing connections by age would end a reserved one inside a transaction.
    max_lifetime: null,
    onnotice: () => {},
    connection: { application_name: settings.name, TimeZone: "UTC" },
    fetch_types: false,
    types: { int8: { to: 20, from: [20], parse: Number, serialize: String }, ...arrayTypes },
    ...(unixDirectory === undefined ? {} : { host: unixDirectory }),
    socket: (at: SocketAddress) => {
      const socket = openSocket(at, attempt++);
      settings.onSocket?.(socket);
      return socket;
    },
  };
  // Its types do not know that `socket` is called with the parsed addresses.
  return postgres(url, options as postgres.Options<{ int8: postgres.PostgresType<number> }>);
}

/** postgres.js would send a `host` parameter to the server as a run-time setting. */
function splitUnixDirectory(text: string): { url: string; unixDirectory: string | undefined } {
  const match = /([?&])host=([^&]*)/.exec(text);
  if (match === null) return { url: text, unixDirectory: undefined };
  const url = text.replace(match[0], match[1] === "?" ? "?" : "").replace("?&", "?");
  return { url, unixDirectory: decodeURIComponent(match[2] ?? "") };
}

interface SocketAddress {
  readonly path: string | false;
  readonly host: readonly string[];
  readonly port: readonly number[];
}

/**
 * A socket without Nagle's delay, which postgres.js never asks for: binary COPY otherwise stalls 40–90 ms a
 * statement. It is returned while still connecting: were this function to fail, postgres.js would lose the
 * connection's place in its pool for ever.
 */
function openSocket(at: SocketAddress, attempt: number): net.Socket {
  const socket = startConnecting(at, attempt);
  // Somebody who accepts and hangs up, such as a proxy without a server behind it: postgres.js would try again
  // for ever, without a pause and without telling anybody.
  socket.once("end", () => {
    if (socket.bytesRead === 0) socket.destroy(Object.assign(new Error("hung up"), { code: "ECONNRESET" }));
  });
  return socket;
}

function startConnecting(at: SocketAddress, attempt: number): net.Socket {
  if (at.path !== false) return net.connect({ path: at.path });
  const which = attempt % at.host.length;
  const socket = net.connect({
    host: at.host[which] ?? "127.0.0.1",
    port: at.port[which] ?? 5432,
    noDelay: true,
    keepAlive: true,
  });
  // postgres.js reads the server's name for TLS from here.
  return Object.assign(socket, { host: at.host[which] });
}
