import {
  changed,
  hasVerdict,
  isTerminalState,
  type RequestUri,
  type SignalQueue,
  type ValidationRequest,
} from "../entities.ts";
import { type ConfiguredQueue, configured } from "../queue-directory.ts";
import { compareRequestIds, requestIdOf } from "../request-id.ts";
import type { SignalWrites } from "../store.ts";
import { processMessage } from "../topics.ts";
import { noteState } from "./change-state.ts";
import { reject, type StageContext } from "./context.ts";
import { untilStored } from "./until-stored.ts";

/** A head that is announced. Without a URI the queue's source control is asked. */
export interface Announcement {
  readonly queue: string;
  readonly uri?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

/**
 * Makes sure that a head has a request and that somebody decides about it; the request. Announcing one again changes
 * nothing, unless its request ended without a verdict: then it is validated anew. Every step may be repeated.
 * Fails with code `invalid` or `not-found`.
 */
export async function ingest(
  context: StageContext,
  announcement: Announcement,
  signal: AbortSignal,
): Promise<ValidationRequest> {
  if (announcement.queue === "") throw reject("invalid", "a head is announced for a queue: name it");
  const queue = configured(context.queues, announcement.queue);
  const uri = announcement.uri ?? (await queue.source.head(signal));
  if (uri === undefined || uri === "") {
    throw reject("not-found", `the queue ${queue.name} has no head: its source control knows none`);
  }
  return await context.store.transact(async (tx) => {
    await ensureQueue(tx, queue);
    const head = { queue, uri, metadata: announcement.metadata ?? {} };
    const requestId = await claimUri(tx, context, head);
    context.points.reach("uri-claimed");
    const request = await ensureRequest(tx, context, { ...head, requestId });
    await moveLatest(tx, context, request);
    if (request.state === "accepted") await tx.publish(processMessage(request));
    return request;
  });
}

async function ensureQueue(tx: SignalWrites, queue: ConfiguredQueue): Promise<void> {
  const row = await tx.queue(queue.name);
  if (row !== undefined && row.project !== queue.config.project) {
    throw reject("invalid", `the queue ${queue.name} belongs to ${row.project}, not ${queue.config.project}`);
  }
  if (row !== undefined) return;
  await tx.createQueue({
    name: queue.name,
    project: queue.config.project,
    lastNumber: 0,
    latestRequestId: "",
    lastGreenUri: "",
    lastGreenRequestId: "",
    slots: [],
    nextAdmissionAtMs: 0,
    version: 1,
  });
}

interface Head {
  readonly queue: ConfiguredQueue;
  readonly uri: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** The id of the request that stands for the head, a new one if there is none or its request had no verdict. */
async function claimUri(tx: SignalWrites, context: StageContext, head: Head): Promise<string> {
  const queue = head.queue.name;
  return await untilStored(context, {
    id: head.uri,
    step: async () => {
      const row = await tx.requestUri(queue, head.uri);
      const older = row === undefined ? undefined : await tx.request(row.requestId);
      // Claimed and not created yet: a crash came between.
      if (row !== undefined && (older === undefined || !isToBeAskedAgain(older))) return row.requestId;
      const requestId = requestIdOf(queue, await takeNumber(tx, context, queue));
      const next: RequestUri =
        row === undefined ? { queue, uri: head.uri, requestId, version: 1 } : changed(row, { requestId });
      const isStored = row === undefined ? await tx.createRequestUri(next) : await tx.updateRequestUri(next);
      return isStored ? requestId : undefined;
    },
  });
}

function isToBeAskedAgain(request: ValidationRequest): boolean {
  return isTerminalState(request.state) && !hasVerdict(request);
}

/** Numbers are taken one by one; one that a crash leaves unused is a gap. */
async function takeNumber(tx: SignalWrites, context: StageContext, queue: string): Promise<number> {
  return await untilStored(context, {
    id: queue,
    step: async () => {
      const row = await existing(tx, queue);
      const next = changed(row, { lastNumber: row.lastNumber + 1 });
      return (await tx.updateQueue(next)) ? next.lastNumber : undefined;
    },
  });
}

async function ensureRequest(
  tx: SignalWrites,
  context: StageContext,
  head: Head & { requestId: string },
): Promise<ValidationRequest> {
  const { requestId, uri, metadata } = head;
  const older = await tx.request(requestId);
  if (older !== undefined) return older;
  const request: ValidationRequest = {
    id: requestId,
    queue: head.queue.name,
    number: Number(requestId.slice(requestId.lastIndexOf("/") + 1)),
    uri,
    strategy: "",
    baseUri: "",
    state: "accepted",
    reason: null,
    buildId: null,
    metadata,
    createdAtMs: context.clock.now(),
    version: 1,
  };
  if (await tx.createRequest(request)) {
    await noteState(tx, context, { from: "", request, project: head.queue.config.project });
    return request;
  }
  const theirs = await tx.request(requestId);
  if (theirs === undefined) throw reject("not-found", `there is no request ${requestId}`);
  return theirs;
}

/** Makes the request the queue's latest unless there is a newer one. */
async function moveLatest(
  tx: SignalWrites,
  context: StageContext,
  request: ValidationRequest,
): Promise<void> {
  await untilStored(context, {
    id: request.queue,
    step: async () => {
      const row = await existing(tx, request.queue);
      const isNewer =
        row.latestRequestId === "" || compareRequestIds(row.name, request.id, row.latestRequestId) > 0;
      if (!isNewer) return true;
      return (await tx.updateQueue(changed(row, { latestRequestId: request.id }))) ? true : undefined;
    },
  });
}

async function existing(tx: SignalWrites, queue: string): Promise<SignalQueue> {
  const row = await tx.queue(queue);
  if (row !== undefined) return row;
  throw reject("not-found", `there is no queue ${queue}`);
}
