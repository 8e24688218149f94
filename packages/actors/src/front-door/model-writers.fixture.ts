import { createHash } from "node:crypto";
import type { Clock } from "@millrace/base/clock";
import { MillraceError } from "@millrace/base/errors";
import type { Bus } from "@millrace/proto/bus";
import { keyLookupChannel, leaseChannel, lifecycleChannel } from "@millrace/proto/channels";

/** Writers that know some API keys and remember what they were told. They can be away. */
export class ModelWriters {
  /** Project by key; the empty key is a call without one. */
  readonly keys = new Map<string, { project: string; scopes: string[] }>([
    ["", { project: "default", scopes: ["ingest"] }],
  ]);
  readonly lifecycle: Record<string, unknown>[] = [];
  /** Requests in which the lifecycle calls came. */
  lifecycleGroups = 0;
  readonly leases: { node?: string | null; leaving?: boolean | null }[] = [];
  isAway = false;
  asked = 0;
  private readonly clock: Clock;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  readonly bus: Pick<Bus, "request"> = {
    request: (channel, ask) => {
      this.asked += 1;
      // Bytes cross the bus, never objects.
      const bytes = channel.request.encode(ask.message);
      if (this.isAway) {
        return new Promise((_, reject) => {
          this.clock.after(ask.timeoutMs, () => {
            reject(new MillraceError({ remedy: "retry", code: "nats-timeout", message: "no answer" }));
          });
        });
      }
      const reply = this.answer({ name: channel.name, subject: ask.subject, bytes });
      return Promise.resolve(channel.reply.decode(reply));
    },
  };

  private answer(question: { name: string; subject: string; bytes: Uint8Array }): Uint8Array {
    switch (question.name) {
      case keyLookupChannel.name: {
        const { keySha256 } = keyLookupChannel.request.decode(question.bytes);
        return keyLookupChannel.reply.encode(this.lookUp(Buffer.from(keySha256 ?? []).toString("hex")));
      }
      case lifecycleChannel.name: {
        const { calls } = lifecycleChannel.request.decode(question.bytes);
        this.lifecycleGroups += 1;
        this.lifecycle.push(...(calls ?? []).map((call) => ({ ...call })));
        return lifecycleChannel.reply.encode({});
      }
      case leaseChannel.name:
        this.leases.push(leaseChannel.request.decode(question.bytes));
        return leaseChannel.reply.encode({});
      default:
        throw new Error(`nobody serves ${question.subject}`);
    }
  }

  private lookUp(digest: string) {
    for (const [key, grant] of this.keys) {
      const known = key === "" ? "" : createHash("sha256").update(key).digest("hex");
      if (known === digest) return { known: true, ...grant, serverSecret: new Uint8Array(32).fill(7) };
    }
    return { known: false };
  }
}
