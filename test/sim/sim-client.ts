import { endStatus } from "@millrace/actors/thread-messages";
import type { Dice } from "./dice.ts";
import type { Script } from "./script.ts";
import type { SimBuild } from "./sim-build.ts";
import type { SimNode } from "./sim-node.ts";

/** One gRPC stream of a client, as the node sees it. */
export interface SimConnection {
  readonly number: number;
  readonly build: SimBuild;
  readonly firstSequence: number;
  acked(to: number): void;
  ended(status: number, message: string): void;
  broke(): void;
}

/**
 * Bazel's uploader as a model with opinions (bes-client.md §1.2): sends without waiting for acks, insists that
 * each ack is the head of its queue, and after a break sends again from its first unacknowledged event.
 */
export class SimClient {
  readonly build: SimBuild;
  /** Broken rules, each a sentence. */
  readonly complaints: string[] = [];
  /** Events acknowledged so far; what the server has promised to keep. */
  ackedTo = 0;
  isDone = false;
  private sent = 0;
  private current: { node: SimNode; connection: SimConnection; halfClosed: boolean } | undefined;
  private readonly world: {
    script: Script;
    dice: Dice;
    nodes: () => readonly SimNode[];
    number: () => number;
    onAck: (client: SimClient) => void;
  };

  constructor(build: SimBuild, world: SimClient["world"]) {
    this.build = build;
    this.world = world;
    world.script.after(world.dice.between(0, 500), () => this.connect());
  }

  /** The network cuts the connection. */
  cut(): boolean {
    const current = this.current;
    if (current === undefined) return false;
    current.node.break(current.connection);
    current.connection.broke();
    return true;
  }

  private connect(): void {
    if (this.isDone) return;
    const node = this.world.dice.pick(this.world.nodes().filter((n) => n.process.isAlive));
    if (node === undefined) {
      this.world.script.after(500, () => this.connect());
      return;
    }
    const connection: SimConnection = {
      number: this.world.number(),
      build: this.build,
      firstSequence: this.ackedTo + 1,
      acked: (to) => this.onAck(connection, to),
      ended: (status, message) => this.onEnd(connection, status, message),
      broke: () => this.onBreak(connection),
    };
    this.sent = this.ackedTo;
    this.current = { node, connection, halfClosed: false };
    node.connect(connection);
    this.sendSome();
  }

  private sendSome(): void {
    const current = this.current;
    if (current === undefined || current.halfClosed) return;
    const count = this.world.dice.between(1, 9);
    const events = this.build.events
      .slice(this.sent, this.sent + count)
      .map((bytes, index) => ({ sequence: this.sent + index + 1, bytes }));
    this.sent += events.length;
    if (events.length > 0) current.node.send(current.connection, events);
    if (this.sent === this.build.events.length) {
      current.halfClosed = true;
      current.node.halfClose(current.connection);
      return;
    }
    this.world.script.after(this.world.dice.between(0, 120), () => {
      if (this.current === current) this.sendSome();
    });
  }

  private onAck(connection: SimConnection, to: number): void {
    if (this.current?.connection !== connection) return;
    if (to > this.sent) this.complain(`ack ${to} for an event it has not sent (sent ${this.sent})`);
    if (to < this.ackedTo) this.complain(`ack ${to} after ${this.ackedTo}`);
    this.ackedTo = Math.max(this.ackedTo, to);
    this.world.onAck(this);
  }

  private onEnd(connection: SimConnection, status: number, message: string): void {
    if (this.current?.connection !== connection) return;
    this.current = undefined;
    const isComplete = this.ackedTo === this.build.events.length;
    if (status === endStatus.ok) {
      this.isDone = true;
      if (!isComplete) this.complain(`ended OK after ${this.ackedTo} of ${this.build.events.length} acks`);
    } else if (status === endStatus.unavailable || status === endStatus.aborted) {
      if (isComplete) this.complain(`ended with ${status} although everything was acked`);
      this.reconnect();
    } else this.complain(`ended with ${status}: ${message}`);
  }

  private onBreak(connection: SimConnection): void {
    if (this.current?.connection !== connection) return;
    this.current = undefined;
    // Everything acked and the connection gone before the end's status: Bazel gives up here, having lost nothing.
    if (this.ackedTo === this.build.events.length) this.isDone = true;
    else this.reconnect();
  }

  private reconnect(): void {
    this.world.script.after(this.world.dice.between(200, 2_000), () => this.connect());
  }

  private complain(what: string): void {
    this.complaints.push(`${this.build.name}: ${what}`);
  }
}
