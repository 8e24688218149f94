import type { Lane, LaneTransaction } from "@millrace/db/lane";
import { signalQueueConfigs } from "@millrace/db/schema/signal-queue-configs";
import { signalQueues } from "@millrace/db/schema/signal-queues";
import { signalRequests } from "@millrace/db/schema/signal-requests";
import { and, eq, inArray, sql } from "drizzle-orm";
import type {
  ConfigPut,
  ConfigRemoval,
  GivenQueueConfig,
  QueueConfigStore,
  StoredQueueConfig,
} from "../queue-config-store.ts";
import { asFailure } from "./failure.ts";

/** The configuration of queues on PostgreSQL. */
export function pgQueueConfigs(lane: Lane): QueueConfigStore {
  const transact = <T>(work: (tx: LaneTransaction) => Promise<T>): Promise<T> =>
    asFailure(() => lane.transact(work));
  return {
    list: () => transact(list),
    put: (change) => transact((tx) => put(tx, change)),
    remove: (name) => transact((tx) => remove(tx, name)),
    showFile: (queues) => transact((tx) => showFile(tx, queues)),
  };
}

async function list(tx: LaneTransaction): Promise<StoredQueueConfig[]> {
  const rows = await tx.orm
    .select()
    .from(signalQueueConfigs)
    .where(eq(signalQueueConfigs.origin, "api"))
    .orderBy(signalQueueConfigs.name);
  return rows.map(({ name, config, version, updatedAt }) => ({
    name,
    config,
    stamp: `${version} ${updatedAt.toISOString()}`,
  }));
}

async function put(
  tx: LaneTransaction,
  change: GivenQueueConfig & { version: number | undefined },
): Promise<ConfigPut> {
  const { name, project, config } = change;
  const isIt = eq(signalQueueConfigs.name, name);
  const [before] = await tx.orm.select().from(signalQueueConfigs).where(isIt).for("update");
  if (before?.origin === "file") return { kind: "of-file" };
  const version = before?.version ?? 0;
  if (change.version !== undefined && change.version !== version) return { kind: "conflict", version };
  const [queue] = await tx.orm
    .select({ project: signalQueues.projectId })
    .from(signalQueues)
    .where(eq(signalQueues.name, name));
  if (queue !== undefined && queue.project !== project)
    return { kind: "other-project", project: queue.project };
  const values = { projectId: project, config, version: version + 1, updatedAt: sql`now()` };
  if (before !== undefined) {
    await tx.orm.update(signalQueueConfigs).set(values).where(isIt);
    return { kind: "stored", version: values.version };
  }
  const stored = await tx.orm
    .insert(signalQueueConfigs)
    .values({ name, origin: "api", ...values })
    .onConflictDoNothing()
    .returning({ version: signalQueueConfigs.version });
  return stored.length > 0
    ? { kind: "stored", version: values.version }
    : { kind: "conflict", version: values.version };
}

async function remove(tx: LaneTransaction, name: string): Promise<ConfigRemoval> {
  const isIt = eq(signalQueueConfigs.name, name);
  const [before] = await tx.orm.select().from(signalQueueConfigs).where(isIt).for("update");
  if (before === undefined) return "missing";
  if (before.origin === "file") return "of-file";
  const isOpen = and(
    eq(signalRequests.queue, name),
    inArray(signalRequests.state, ["accepted", "processing"]),
  );
  const open = await tx.orm.select({ id: signalRequests.id }).from(signalRequests).where(isOpen).limit(1);
  if (open.length > 0) return "busy";
  await tx.orm.delete(signalQueueConfigs).where(isIt);
  return "removed";
}

async function showFile(tx: LaneTransaction, queues: readonly GivenQueueConfig[]): Promise<void> {
  await tx.orm.delete(signalQueueConfigs).where(eq(signalQueueConfigs.origin, "file"));
  for (const { name, project, config } of queues) {
    const row = { projectId: project, origin: "file" as const, config, version: 1, updatedAt: sql`now()` };
    await tx.orm
      .insert(signalQueueConfigs)
      .values({ name, ...row })
      .onConflictDoUpdate({ target: signalQueueConfigs.name, set: row });
  }
}
