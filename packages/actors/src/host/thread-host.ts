import { assert, unreachable } from "@millrace/base/assert";
import { invocationKey } from "@millrace/proto/tokens";
import {
  type ConnectedMessage,
  type EventsMessage,
  endStatus,
  eventOverheadBytes,
  type LargeEventMessage,
  metaStride,
  type ToThread,
} from "../thread-messages.ts";
import { AckOutbox } from "./ack-outbox.ts";
import { type HostContext, HostedActor, type HostLimits } from "./hosted-actor.ts";
import { LargeEventGate } from "./large-event-gate.ts";
import { LiveDigests } from "./live-digests.ts";
import type { HostPorts } from "./ports.ts";

/** The drain's end: connections that had nothing to ack are sent away then. */
const drainDeadlineMs = 8_000;

/** The mailboxes of one worker thread: every invocation that hashes to it has its actors here. */
export class ThreadHost {
  private readonly context: HostContext;
  private readonly byConnection = new Map<number, HostedActor>();
  private readonly byInvocation = new Map<string, Set<HostedActor>>();
  private draining: { done: () => void } | undefined;

  constructor(ports: HostPorts, settings: { nodeId: string; limits: HostLimits }) {
    this.context = {
      ports,
      limits: settings.limits,
      nodeId: settings.nodeId,
      acks: new AckOutbox(ports),
      largeEvents: new LargeEventGate(ports.projectLarge),
    };
  }

  /** Takes one message of the front door. Calls must come in the order in which they were posted. */
  handle(message: ToThread): void {
    switch (message.kind) {
      case "connected":
        return this.connected(message);
      case "events":
        return this.events(message);
      case "large":
        return this.largeEvent(message);
      case "half-closed":
        return this.byConnection.get(message.connection)?.input((actor) => actor.halfClose());
      case "broken":
        return this.byConnection.get(message.connection)?.input((actor) => actor.break());
      case "drain":
      case "crash":
        return;
      default:
        return unreachable(message);
    }
  }

  /** Ends every connection, acked as far as is committed, and resolves when nothing is left. */
  drain(): Promise<void> {
    return new Promise((resolve) => {
      this.draining = { done: resolve };
      for (const hosted of [...this.byConnection.values()]) hosted.input((actor) => actor.drain());
      this.context.ports.clock.after(drainDeadlineMs, () => {
        for (const hosted of [...this.byConnection.values()]) hosted.input((actor) => actor.drainDeadline());
      });
      this.resolveWhenDrained();
    });
  }

  /** How many connections have an actor here. */
  get size(): number {
    return this.byConnection.size;
  }

  private connected(message: ConnectedMessage): void {
    assert(!this.byConnection.has(message.connection), "a connection number is used once");
    if (this.draining !== undefined) {
      return this.context.acks.end({
        kind: "end",
        connection: message.connection,
        status: endStatus.unavailable,
        message: "the server is restarting",
      });
    }
    const key = invocationKey(message.project, message.invocationId);
    const hosted = new HostedActor(this.context, {
      start: message,
      digests: new LiveDigests(this.context.ports, {
        project: message.project,
        invocationId: message.invocationId,
      }),
      onTurn: (turned) => this.turned(turned, key),
    });
    this.byConnection.set(message.connection, hosted);
    const siblings = this.byInvocation.get(key);
    if (siblings === undefined) this.byInvocation.set(key, new Set([hosted]));
    else siblings.add(hosted);
    hosted.input(() => {});
  }

  private events(message: EventsMessage): void {
    const touched = new Set<HostedActor>();
    let offset = 0;
    for (let at = 0; at < message.meta.length; at += metaStride) {
      const connection = message.meta[at] ?? 0;
      const sequence = message.meta[at + 1] ?? 0;
      const length = message.meta[at + 2] ?? 0;
      const hosted = this.byConnection.get(connection);
      if (hosted === undefined) this.giveBack(connection, length);
      else {
        hosted.event(sequence, new Uint8Array(message.arena, offset, length));
        touched.add(hosted);
      }
      offset += length;
    }
    for (const hosted of touched) hosted.input((actor) => actor.turnEnded());
  }

  private largeEvent(message: LargeEventMessage): void {
    const hosted = this.byConnection.get(message.connection);
    if (hosted === undefined) return this.giveBack(message.connection, message.bytes.length);
    hosted.event(message.sequence, message.bytes);
    hosted.input((actor) => actor.turnEnded());
  }

  /** The actor is gone (superseded, refused): of its events only the memory is given back. */
  private giveBack(connection: number, eventBytes: number): void {
    this.context.acks.ack(connection, 0, eventBytes + eventOverheadBytes);
  }

  /** After each turn: a newer owner of an attempt supersedes the older ones, and who is done is forgotten. */
  private turned(hosted: HostedActor, key: string): void {
    const siblings = this.byInvocation.get(key);
    if (siblings === undefined) return;
    const attemptId = hosted.actor.attemptId;
    if (siblings.size > 1 && attemptId !== undefined && !hosted.actor.isRemoved) {
      for (const other of [...siblings]) {
        if (other.connection >= hosted.connection || other.actor.attemptId !== attemptId) continue;
        other.input((actor) => actor.supersede());
      }
    }
    if (!hosted.actor.isRemoved) return;
    siblings.delete(hosted);
    if (siblings.size === 0) this.byInvocation.delete(key);
    this.byConnection.delete(hosted.connection);
    this.resolveWhenDrained();
  }

  private resolveWhenDrained(): void {
    if (this.byConnection.size === 0) this.draining?.done();
  }
}
