import { z } from "@hono/zod-openapi";
import type { WatchedState } from "../queries/watch.ts";
import { type Build, buildSchema } from "../resources/build.ts";
import { type Change, mergeChanges } from "./changes.ts";
import { type LiveEvent, Outbox } from "./outbox.ts";

/** Data of a `state` event: how an invocation stands now and which of its rows to read anew. */
export const liveStateSchema = z
  .object({
    build: buildSchema,
    changedAttempt: z.number().int().openapi({ description: "Attempt that `changedLabels` are of; 0 = any" }),
    changedLabels: z.array(z.string()),
    allChanged: z.boolean().openapi({ description: "Any row may have changed" }),
  })
  .openapi("LiveState");

/** Data of a `heartbeat` event, every 5 s. */
export const liveHeartbeatSchema = z
  .object({
    at: z.iso.datetime(),
    stale: z
      .boolean()
      .openapi({ description: "The database does not answer: what was sent last still stands" }),
    attempt: z.number().int().nullable(),
    status: z.string().nullable(),
    lastSequence: z.number().int().nullable(),
  })
  .openapi("LiveHeartbeat");

/** Data of a `build` event of a project. */
export const liveBuildSchema = z.object({ build: buildSchema }).openapi("LiveBuild");

/** Data of a `gone` event of a project: this build does not fulfil the query, or not any more. */
export const liveGoneSchema = z
  .object({ project: z.string(), invocationId: z.string(), attempt: z.number().int() })
  .openapi("LiveGone");

export type LiveState = z.infer<typeof liveStateSchema>;
export type LiveHeartbeat = z.infer<typeof liveHeartbeatSchema>;

/** Builds whose latest state waits for a viewer of a project; past it the viewer reads the list anew. */
const waitingBuildsMax = 500;

export function invocationOutbox(): Outbox {
  return new Outbox({
    keysMax: 4,
    overflow: { name: "reset", id: "", data: {} },
    merge: (older, newer) => (newer.name === "state" ? mergedState(older, newer) : newer),
  });
}

export function projectOutbox(): Outbox {
  return new Outbox({
    keysMax: waitingBuildsMax,
    overflow: { name: "reset", id: "", data: {} },
    merge: (_older, newer) => newer,
  });
}

/** Position in an invocation's states, as Last-Event-ID brings it back. */
export function statePlace(at: { attempt: number; lastSequence: number; status: string }): string {
  return `${at.attempt}.${at.lastSequence}.${at.status}`;
}

export function stateEvent(build: Build, change: Change): LiveEvent {
  const data: LiveState = {
    build,
    changedAttempt: change.attempt,
    changedLabels: [...change.labels],
    allChanged: change.all,
  };
  return { name: "state", id: statePlace(build), data };
}

export function buildEvent(build: Build): LiveEvent {
  return { name: "build", id: statePlace(build), data: { build } };
}

export function goneEvent(build: Build): LiveEvent {
  const { project, invocationId, attempt } = build;
  return { name: "gone", id: statePlace(build), data: { project, invocationId, attempt } };
}

/** Tells a viewer of a project to read the list anew: at the beginning, and when it missed something. */
export const resetEvent: LiveEvent = { name: "reset", id: "", data: {} };

export function heartbeatEvent(
  now: number,
  known: { stale: boolean; state: WatchedState | undefined },
): LiveEvent {
  const { state } = known;
  const data: LiveHeartbeat = {
    at: new Date(now).toISOString(),
    stale: known.stale,
    attempt: state?.attempt ?? null,
    status: state?.status ?? null,
    lastSequence: state?.lastSequence ?? null,
  };
  // Without an id of its own: a heartbeat must not move the place of a viewer who has not read the state yet.
  return { name: "heartbeat", id: "", data };
}

function mergedState(older: LiveEvent, newer: LiveEvent): LiveEvent {
  const change = mergeChanges(changeOf(older), changeOf(newer));
  return stateEvent((newer.data as LiveState).build, change);
}

function changeOf(event: LiveEvent): Change {
  const state = event.data as LiveState;
  return { attempt: state.changedAttempt, labels: state.changedLabels, all: state.allChanged };
}
