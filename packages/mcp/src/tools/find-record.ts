import { refuse } from "../run/policy.ts";
import type { Invocation } from "../store/record.ts";
import type { Store } from "../store/store.ts";
import { isUuid } from "../store/uuid7.ts";
import type { ToolContext } from "./context.ts";

/** A record and the store that its evidence lies in. */
export interface FoundRecord {
  readonly invocation: Invocation;
  readonly store: Store;
  readonly isOfServer: boolean;
}

/** Which record is wanted. */
export interface WantedRecord {
  readonly id: string;
  /** A project of the Millrace server; then nothing is looked for here. */
  readonly project?: string | undefined;
  /** For a build that still runs on the server. */
  readonly waitMs?: number | undefined;
  readonly signal: AbortSignal;
}

/** The record of an invocation: of this machine, else, with a Millrace server, of a build that is stored there. */
export async function findRecord(context: ToolContext, wanted: WantedRecord): Promise<FoundRecord> {
  const { id, project, signal } = wanted;
  const { store, server, runner } = context;
  if (project === undefined && isUuid(id)) {
    const invocation = runner.get(id)?.invocation ?? store.find(id);
    if (invocation !== undefined) return { invocation, store, isOfServer: false };
  }
  if (server === undefined) {
    if (project !== undefined) throw noServer();
    if (isUuid(id)) return { invocation: store.read(id), store, isOfServer: false };
    throw refuse("inspect", `${JSON.stringify(id)} is not an invocation id (a UUID in lower case)`);
  }
  const request = { invocationId: id, project, waitMs: wanted.waitMs ?? 0, signal };
  return { ...(await server.find(request)), isOfServer: true };
}

/** Projects are the server's. */
export function noServer(): Error {
  return refuse(
    "server",
    "project belongs to a Millrace server, and this one was started without: add --server URL",
  );
}
