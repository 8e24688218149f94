import { MillraceError } from "@millrace/base/errors";
import type { Bus, BusSubscription } from "@millrace/proto/bus";
import type { Codec } from "@millrace/proto/channels";
import type { Dice } from "./dice.ts";
import type { FaultCounter } from "./faults.ts";
import type { Script, SimProcess } from "./script.ts";

interface Server {
  readonly process: SimProcess;
  readonly subject: string;
  readonly handle: (bytes: Uint8Array) => Promise<Uint8Array>;
}

/** A network that loses, repeats and delays messages while `faulty` is on. Bytes cross it, never objects. */
export class SimNetwork {
  faulty = true;
  private readonly servers: Server[] = [];
  private readonly script: Script;
  private readonly dice: Dice;
  private readonly faults: FaultCounter;

  constructor(world: { script: Script; dice: Dice; faults: FaultCounter }) {
    this.script = world.script;
    this.dice = world.dice;
    this.faults = world.faults;
  }

  /** The bus as one process sees it. */
  busOf(process: SimProcess): Bus {
    return {
      request: (channel, ask) => this.request(process, channel, ask),
      publish: () => {},
      serve: (channel, at, handler) => {
        const server: Server = {
          process,
          subject: at.subject,
          handle: async (bytes) => channel.reply.encode(await handler(channel.request.decode(bytes))),
        };
        this.servers.push(server);
        return this.stoppable(server);
      },
      subscribe: () => ({ stop: async () => {} }),
      close: async () => {},
    };
  }

  private request<Q, A>(
    from: SimProcess,
    channel: { request: Codec<Q>; reply: Codec<A> },
    ask: { subject: string; message: Q; timeoutMs: number },
  ): Promise<A> {
    const bytes = channel.request.encode(ask.message);
    if (!from.isAlive) return new Promise<A>(() => {});
    return new Promise<A>((resolve, reject) => {
      const whenAwake = (action: () => void): void => this.script.doIn(from, action);
      this.script.after(ask.timeoutMs, () =>
        whenAwake(() => reject(failure("nats-timeout", `no answer on ${ask.subject}`))),
      );
      if (this.lose("request-lost")) return;
      const copies = this.repeats() ? 2 : 1;
      for (let copy = 0; copy < copies; copy += 1) {
        this.script.after(this.latency(), () => {
          const server = this.serverOf(ask.subject);
          if (server === undefined) {
            whenAwake(() => reject(failure("nats-no-responders", `nobody serves ${ask.subject}`)));
            return;
          }
          this.script.doIn(server.process, () => {
            void server.handle(bytes.slice()).then(
              (reply) => this.answer(() => whenAwake(() => resolve(channel.reply.decode(reply)))),
              () => {},
            );
          });
        });
      }
    });
  }

  private answer(arrive: () => void): void {
    if (this.lose("reply-lost")) return;
    this.script.after(this.latency(), arrive);
  }

  /** One of those alive that serve the subject, as a queue group picks. */
  private serverOf(subject: string): Server | undefined {
    return this.dice.pick(this.servers.filter((s) => s.subject === subject && s.process.isAlive));
  }

  private lose(kind: "request-lost" | "reply-lost"): boolean {
    if (!this.faulty || !this.dice.happens(0.04)) return false;
    this.faults.met(kind);
    return true;
  }

  private repeats(): boolean {
    if (!this.faulty || !this.dice.happens(0.04)) return false;
    this.faults.met("message-repeated");
    return true;
  }

  private latency(): number {
    if (!this.faulty || !this.dice.happens(0.05)) return this.dice.between(1, 4);
    this.faults.met("message-late");
    return this.dice.between(100, 9_000);
  }

  private stoppable(server: Server): BusSubscription {
    return {
      stop: async () => {
        const at = this.servers.indexOf(server);
        if (at !== -1) this.servers.splice(at, 1);
      },
    };
  }
}

function failure(code: string, message: string): MillraceError {
  return new MillraceError({ remedy: "retry", code, message });
}
