import { silentLog } from "@millrace/base/log";
import type { Bus } from "@millrace/proto/bus";
import {
  batchChannel,
  keyLookupChannel,
  leaseChannel,
  lifecycleChannel,
  openChannel,
} from "@millrace/proto/channels";
import { connectBus } from "@millrace/proto/nats-bus";

/** What the model keeps of an invocation. */
interface Stored {
  readonly attemptId: number;
  committed: number;
  finished: boolean;
}

/**
 * Writers on a real NATS without a database: one attempt per invocation, everything is committed as soon as it
 * comes, whoever opened last goes on behind it.
 */
export class WritersOnNats {
  readonly stored = new Map<string, Stored>();
  readonly leases: { node: string; leaving: boolean }[] = [];
  lifecycle = 0;
  private readonly bus: Bus;

  private constructor(bus: Bus) {
    this.bus = bus;
  }

  static async start(natsUrl: string): Promise<WritersOnNats> {
    const bus = await connectBus({ servers: natsUrl, name: "model writers", log: silentLog });
    const writers = new WritersOnNats(bus);
    writers.serve();
    return writers;
  }

  stop(): Promise<void> {
    return this.bus.close();
  }

  private serve(): void {
    const queue = "writers";
    const at = (subject: string) => ({ subject, queue });
    this.bus.serve(keyLookupChannel, at(keyLookupChannel.name), async () => ({
      known: true,
      project: "default",
      scopes: ["ingest"],
      serverSecret: new Uint8Array(32),
    }));
    this.bus.serve(leaseChannel, at(leaseChannel.name), async ({ node, leaving }) => {
      this.leases.push({ node: node ?? "", leaving: leaving ?? false });
      return {};
    });
    this.bus.serve(lifecycleChannel, at(lifecycleChannel.name), async ({ calls }) => {
      this.lifecycle += calls?.length ?? 0;
      return {};
    });
    this.bus.serve(openChannel, at(`${openChannel.name}.*`), async ({ open }) =>
      open ? { opened: this.opened(open.key?.invocationId ?? "") } : { released: {} },
    );
    this.bus.serve(batchChannel, at(`${batchChannel.name}.*`), async (batch) => {
      const id = batch.key?.invocationId ?? "";
      const opened = batch.open ? this.opened(id) : undefined;
      const stored = this.of(id);
      const last = Number(batch.lastSequence ?? 0);
      if (opened !== undefined && opened.committed > 0 && opened.committed < last) return { opened };
      stored.committed = Math.max(stored.committed, last);
      if (batch.endsStream) stored.finished = true;
      return { committed: { lastSequence: stored.committed, ...(opened ? { opened } : {}) } };
    });
  }

  private of(id: string): Stored {
    const stored = this.stored.get(id) ?? { attemptId: this.stored.size + 1, committed: 0, finished: false };
    this.stored.set(id, stored);
    return stored;
  }

  private opened(id: string) {
    return { ...this.of(id), attempt: 1, carry: {} };
  }
}
