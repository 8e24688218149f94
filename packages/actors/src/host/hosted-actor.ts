import { createHmac } from "node:crypto";
import { errorText } from "@millrace/base/errors";
import { batchChannel, openChannel, shardSubject } from "@millrace/proto/channels";
import type { IBatchRequest, IOpenStream } from "@millrace/proto/pipeline";
import { shardOf } from "@millrace/proto/tokens";
import { Actor } from "../core/actor.ts";
import type { BatchContent, BatchLimits, Effect, LargeProjection } from "../core/effects.ts";
import type { ConnectedMessage } from "../thread-messages.ts";
import type { AckOutbox } from "./ack-outbox.ts";
import { type Asking, askUntilAnswered } from "./asker.ts";
import type { LargeEventGate } from "./large-event-gate.ts";
import type { LiveDigests } from "./live-digests.ts";
import type { HostPorts } from "./ports.ts";
import { sealBodies } from "./sealer.ts";

export interface HostLimits extends BatchLimits {
  readonly messageBytesMax: number;
  readonly outageHoldMaxMs: number;
}

/** What one actor shares with the others of its thread. */
export interface HostContext {
  readonly ports: HostPorts;
  readonly limits: HostLimits;
  readonly nodeId: string;
  readonly acks: AckOutbox;
  readonly largeEvents: LargeEventGate;
}

/** One actor with everything around it that is not pure: owner token, timers, requests. */
export class HostedActor {
  readonly connection: number;
  readonly key: { readonly project: string; readonly invocationId: string };
  readonly actor: Actor;
  private readonly context: HostContext;
  private readonly start: ConnectedMessage;
  private readonly owner: Uint8Array;
  private readonly digests: LiveDigests;
  private readonly onTurn: (hosted: HostedActor) => void;
  private readonly timers = new Map<string, () => void>();
  private readonly askings = new Set<Asking>();
  private firstEventHmac: Uint8Array | undefined;

  constructor(
    context: HostContext,
    made: { start: ConnectedMessage; digests: LiveDigests; onTurn: (hosted: HostedActor) => void },
  ) {
    this.context = context;
    this.start = made.start;
    this.connection = made.start.connection;
    this.key = { project: made.start.project, invocationId: made.start.invocationId };
    this.owner = context.ports.random.bytes(16);
    this.digests = made.digests;
    this.onTurn = made.onTurn;
    this.actor = new Actor({ firstSequence: made.start.firstSequence, limits: context.limits });
  }

  event(sequence: number, bytes: Uint8Array): void {
    if (sequence === 1 && this.start.firstSequence === 1 && this.firstEventHmac === undefined) {
      this.firstEventHmac = createHmac("sha256", this.start.serverSecret).update(bytes).digest();
    }
    this.actor.event(sequence, bytes);
  }

  /** An input other than an event; its effects are done at once. */
  input(tell: (actor: Actor) => void): void {
    tell(this.actor);
    for (const effect of this.actor.takeEffects()) this.perform(effect);
    this.onTurn(this);
  }

  private perform(effect: Effect): void {
    switch (effect.kind) {
      case "open":
        return this.askOpen();
      case "seal":
        void this.sendBatch(effect.batch);
        return;
      case "project-large":
        return this.projectLarge(effect.large);
      case "ack":
        return this.context.acks.ack(this.connection, effect.to, effect.released);
      case "ack-again":
        return this.context.acks.ackAgain(this.connection, effect.sequence);
      case "end":
        return this.context.acks.end({ ...effect, connection: this.connection });
      case "release":
        return this.release(effect.attemptId);
      case "arm":
        return this.arm(effect.timer, effect.delayMs);
      case "digest":
        return this.digests.say(effect.digest);
      case "remove":
        return this.forget();
    }
  }

  private arm(timer: "batch" | "held", delayMs: number): void {
    const cancel = this.context.ports.clock.after(delayMs, () => this.input((actor) => actor.timer(timer)));
    this.timers.set(timer, cancel);
  }

  private askOpen(): void {
    this.ask({
      channel: openChannel,
      message: { open: this.openStream() },
      onAnswer: (reply) => this.input((actor) => actor.openAnswered(reply)),
    });
  }

  private openStream(): IOpenStream {
    return {
      key: this.key,
      owner: this.owner,
      firstSequence: this.start.firstSequence,
      ...(this.firstEventHmac === undefined ? {} : { firstEventHmac: this.firstEventHmac }),
      buildId: this.start.buildId,
      node: this.context.nodeId,
    };
  }

  /** Seals and sends; a blob store that cannot be written is an outage like any other. */
  private async sendBatch(batch: BatchContent): Promise<void> {
    const { ports, limits } = this.context;
    const started = ports.clock.monotonic();
    for (let delayMs = 50; ; delayMs = Math.min(delayMs * 2, 1_000)) {
      try {
        const seal = {
          project: this.key.project,
          owner: this.owner,
          messageBytesMax: limits.messageBytesMax,
        };
        const bodies = await sealBodies(ports, seal, batch);
        void ports.points.reach("sealed");
        if (this.actor.isRemoved) return;
        return this.askBatch(batch, bodies);
      } catch (error) {
        ports.log.warn("a batch could not be staged", { error: errorText(error) });
        if (ports.clock.monotonic() - started > limits.outageHoldMaxMs) {
          return this.input((actor) => actor.outageTooLong());
        }
        await new Promise<void>((resolve) => {
          ports.clock.after(delayMs, resolve);
        });
      }
    }
  }

  private askBatch(batch: BatchContent, bodies: Pick<IBatchRequest, "events" | "log" | "rows">): void {
    const message: IBatchRequest = {
      key: this.key,
      attemptId: this.actor.attemptId ?? 0,
      owner: this.owner,
      firstSequence: batch.first,
      lastSequence: batch.last,
      ...bodies,
      carry: batch.carry,
      endsStream: batch.endsStream,
      undecoded: batch.undecoded,
      ...(batch.opens ? { open: this.openStream() } : {}),
    };
    this.ask({
      channel: batchChannel,
      message,
      onAnswer: (reply) => this.input((actor) => actor.batchAnswered(batch.first, reply)),
    });
    void this.context.ports.points.reach("batch-sent");
  }

  private ask<Q, A>(what: {
    channel: Parameters<typeof askUntilAnswered<Q, A>>[1]["channel"];
    message: Q;
    onAnswer: (answer: A) => void;
  }): void {
    const asking = askUntilAnswered(this.context.ports, {
      channel: what.channel,
      subject: shardSubject(what.channel, shardOf(this.key.project, this.key.invocationId)),
      message: what.message,
      giveUpAfterMs: this.context.limits.outageHoldMaxMs,
      onAnswer: (answer) => {
        this.askings.delete(asking);
        what.onAnswer(answer);
      },
      onTooLong: () => this.input((actor) => actor.outageTooLong()),
    });
    this.askings.add(asking);
  }

  private projectLarge(large: LargeProjection): void {
    const { ports, largeEvents } = this.context;
    largeEvents.project(large).then(
      (projected) => this.input((actor) => actor.largeProjected(projected)),
      (error: unknown) => {
        ports.log.error("a large event could not be projected", { error: errorText(error) });
        this.input((actor) => actor.outageTooLong());
      },
    );
  }

  /** Best effort: without it the sweep waits for the lease instead. */
  private release(attemptId: number): void {
    askUntilAnswered(this.context.ports, {
      channel: openChannel,
      subject: shardSubject(openChannel, shardOf(this.key.project, this.key.invocationId)),
      message: { release: { attemptId, owner: this.owner } },
      giveUpAfterMs: 30_000,
      onAnswer: () => {},
      onTooLong: () => {},
    });
  }

  private forget(): void {
    for (const cancel of this.timers.values()) cancel();
    for (const asking of this.askings) asking.abandon();
    this.timers.clear();
    this.askings.clear();
  }
}
