import type {
  CreateTaskOptions,
  TaskStore,
} from "@modelcontextprotocol/sdk/experimental/tasks/interfaces.js";
import type { Request, Result, Task } from "@modelcontextprotocol/sdk/types.js";
import { finishedAnswer } from "../answer/run-answer.ts";
import { refuse } from "../run/policy.ts";
import type { Invocation, State } from "../store/record.ts";
import { isUuid } from "../store/uuid7.ts";
import type { ToolContext } from "../tools/context.ts";
import { runSchema } from "../tools/run-tool.ts";
import { answerFor } from "../tools/wait.ts";

const tasksPerPage = 100;

const statusOf: Readonly<Record<State, Task["status"]>> = {
  queued: "working",
  starting: "working",
  running: "working",
  // A failed build is a result; only an execution that ended without one has failed.
  succeeded: "completed",
  failed: "completed",
  timed_out: "completed",
  cancelled: "cancelled",
  interrupted: "failed",
};

/**
 * Tasks of the protocol are invocations: the id, the state and the result are the record's, so they survive this process. A
 * task whose server died is `failed` with what its events had said, and is never run again.
 */
export class InvocationTasks implements TaskStore {
  private readonly context: ToolContext;
  private readonly settings: { readonly ttlMs: number; readonly pollIntervalMs: number };
  private readonly cancelled = new Set<string>();

  constructor(context: ToolContext, settings: { ttlMs: number; pollIntervalMs: number }) {
    this.context = context;
    this.settings = settings;
  }

  /** Starts the run that the request asks for. */
  async createTask(options: CreateTaskOptions, _requestId: unknown, request: Request): Promise<Task> {
    const { runner, clock } = this.context;
    const args = runSchema.parse((request.params as { arguments?: unknown } | undefined)?.arguments ?? {});
    const now = clock.now();
    const ttlMs = Math.min(options.ttl ?? this.settings.ttlMs, this.settings.ttlMs);
    const deferred = { created_at_ms: now, expires_at_ms: now + ttlMs };
    const run = await runner.start(args, { deferred });
    return this.describe(run.invocation);
  }

  async getTask(id: string): Promise<Task | null> {
    const invocation = this.find(id);
    return invocation === undefined ? null : this.describe(invocation);
  }

  /** Results are read from records; nobody stores them here. */
  async storeTaskResult(): Promise<void> {}

  async getTaskResult(id: string): Promise<Result> {
    const invocation = this.find(id);
    if (invocation === undefined) throw refuse("task", `no task ${id}: unknown or expired`);
    const run = this.context.runner.get(id);
    const { encoding } = this.context;
    const encoded =
      run === undefined
        ? finishedAnswer(invocation, { encoding, views: [], output: "" })
        : await answerFor(run, { invocation, context: this.context });
    const { content, structuredContent } = encoded;
    return { content, ...(structuredContent === undefined ? {} : { structuredContent }) };
  }

  async updateTaskStatus(id: string, status: Task["status"], message?: string): Promise<void> {
    if (status !== "cancelled") return;
    this.cancelled.add(id);
    await this.context.runner.cancel(id, message ?? "cancelled by the client");
  }

  async listTasks(cursor?: string): Promise<{ tasks: Task[]; nextCursor?: string }> {
    const tasks: Task[] = [];
    this.context.store.refresh();
    for (const entry of this.context.store.index.newest(cursor)) {
      if (entry.protectedUntilMs === 0) continue;
      const invocation = this.find(entry.id);
      if (invocation !== undefined) tasks.push(this.describe(invocation));
      if (tasks.length === tasksPerPage) return { tasks, nextCursor: entry.id };
    }
    return { tasks };
  }

  /** A running one never expires. */
  private find(id: string): Invocation | undefined {
    const { runner, store, clock } = this.context;
    const running = runner.get(id)?.invocation;
    if (running !== undefined) return running.deferred === undefined ? undefined : running;
    store.refresh();
    if (!isUuid(id) || store.lookup(id) === undefined) return undefined;
    const invocation = store.read(id);
    const { deferred } = invocation;
    const isOver = statusOf[invocation.state] !== "working";
    const isExpired = deferred === undefined || (isOver && deferred.expires_at_ms <= clock.now());
    return isExpired ? undefined : invocation;
  }

  private describe(invocation: Invocation): Task {
    const { request, deferred, state } = invocation;
    const isCancelling = this.cancelled.has(request.id) && statusOf[state] === "working";
    const changedAt = invocation.finished_at_ms ?? invocation.started_at_ms ?? request.requested_at_ms;
    return {
      taskId: request.id,
      status: isCancelling ? "cancelled" : statusOf[state],
      ttl: deferred === undefined ? null : deferred.expires_at_ms - deferred.created_at_ms,
      createdAt: new Date(request.requested_at_ms).toISOString(),
      lastUpdatedAt: new Date(changedAt).toISOString(),
      pollInterval: this.settings.pollIntervalMs,
      statusMessage: invocation.summary?.headline ?? state,
    };
  }
}
