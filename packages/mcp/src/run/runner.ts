import { delay } from "@millrace/base/clock";
import { errorText } from "@millrace/base/errors";
import { type Capture, noCapture, tailCapture } from "../capture/capture.ts";
import { fifoCapture } from "../capture/fifo-capture.ts";
import { file } from "../store/layout.ts";
import { replaceFile } from "../store/private-file.ts";
import { type Deferred, type Invocation, isTerminal, type State } from "../store/record.ts";
import { admit } from "./admission.ts";
import { BazelVersions } from "./bazel-version.ts";
import { hasEvents } from "./command-line.ts";
import { refuse } from "./policy.ts";
import { Run } from "./run.ts";
import type { InvocationSpec, RunRequest } from "./spec.ts";
import type { Surroundings } from "./surroundings.ts";
import { findBazel } from "./workspace.ts";

const reasonBytesMax = 1000;
const shutdownExtraMs = 5000;

/** What a cancel did. */
export interface CancelResult {
  readonly invocation_id: string;
  readonly prior_state: State;
  readonly current_state: State;
  readonly cancellation_requested: boolean;
}

/** Starts runs and knows those of this process. */
export class Runner {
  private readonly at: Surroundings;
  private readonly versions = new BazelVersions();
  private readonly runs = new Map<string, Run>();
  private isStopping = false;

  constructor(at: Surroundings) {
    this.at = at;
  }

  /** Accepts a request: when this resolves its record is durable. Refusals leave nothing behind. */
  async start(request: RunRequest, options: { deferred?: Deferred } = {}): Promise<Run> {
    const { store, settings } = this.at;
    const spec = admit(request, { settings, id: store.newId() });
    if (this.isStopping) throw refuse("stopping", "the server is shutting down");
    if (this.runs.size >= settings.maximumPendingInvocations) {
      throw refuse(
        "queue-full",
        `${this.runs.size} invocations are waiting or running already; wait for one or cancel it`,
      );
    }
    const executable = findBazel({
      workspace: spec.workspace,
      configured: settings.bazelExecutable,
      searchPath: settings.searchPath,
    });
    await this.versions.check({ executable, workspace: spec.workspace, settings });
    const invocation = this.recordOf(spec, options.deferred);
    await store.create(invocation);
    const capture = await this.captureFor(spec);
    const run = new Run({ spec, invocation, executable, at: this.at, capture });
    this.runs.set(spec.id, run);
    void run.done.then(() => this.runs.delete(spec.id));
    return run;
  }

  private recordOf(spec: InvocationSpec, deferred: Deferred | undefined): Invocation {
    const { redactor, store, clock } = this.at;
    const startup = redactor.arguments(spec.startupArgs);
    const args = redactor.arguments(spec.args);
    return {
      request: {
        id: spec.id,
        workspace: spec.workspace,
        ...(startup.length === 0 ? {} : { startup_arguments: startup }),
        command: spec.command,
        ...(args.length === 0 ? {} : { arguments: args }),
        ...(spec.target === undefined ? {} : { target: spec.target }),
        ...(spec.programArgs === undefined ? {} : { program_argument_count: spec.programArgs.length }),
        timeout_ms: spec.timeoutMs,
        requested_at_ms: clock.now(),
      },
      owner: store.publisher.id,
      state: "queued",
      ...(deferred === undefined ? {} : { deferred }),
      payload_bytes: 0,
    };
  }

  private async captureFor(spec: InvocationSpec): Promise<Capture> {
    if (!hasEvents(spec.command)) return noCapture();
    const { store, settings, clock, random, log } = this.at;
    const events = store.pathOf(spec.id, file.events);
    try {
      if (settings.bepTransport === "fifo") {
        return await fifoCapture({ pipe: store.pathOf(spec.id, file.pipe), events });
      }
      if (settings.bepTransport === "bes") {
        // Loaded only when asked for: gRPC would be half of every server's start.
        const { besCapture } = await import("../capture/bes-capture.ts");
        return await besCapture({ events, clock, random, log });
      }
    } catch (error) {
      // The file works everywhere.
      log.warn("events are captured by file instead", { error: errorText(error) });
    }
    return tailCapture(events);
  }

  get(id: string): Run | undefined {
    return this.runs.get(id);
  }

  all(): IterableIterator<Run> {
    return this.runs.values();
  }

  /** Cancels here or, through a file that its owner looks for, in another process. Idempotent. */
  async cancel(id: string, reason: string): Promise<CancelResult> {
    const { store, redactor } = this.at;
    const text = redactor.text(reason).slice(0, reasonBytesMax);
    const run = this.runs.get(id);
    const prior = run?.invocation.state ?? store.read(id).state;
    if (isTerminal(prior)) {
      return { invocation_id: id, prior_state: prior, current_state: prior, cancellation_requested: false };
    }
    if (run !== undefined) run.cancel(text);
    else {
      const directory = store.directory(id);
      replaceFile(
        { directory, name: file.cancel, temporary: store.newId() },
        JSON.stringify({ reason: text }),
      );
    }
    // A queued one is over at once; a running one needs Bazel's consent.
    if (run !== undefined) await Promise.race([run.done, delay(this.at.clock, 200)]);
    const current = run?.invocation.state ?? prior;
    return { invocation_id: id, prior_state: prior, current_state: current, cancellation_requested: true };
  }

  /** Cancels everything and waits for it, at most the sum of the graces and five seconds. */
  async stop(): Promise<void> {
    this.isStopping = true;
    const runs = [...this.runs.values()];
    for (const run of runs) run.cancel("the server shut down");
    const { interruptGraceMs, terminateGraceMs } = this.at.settings;
    const { promise, resolve } = Promise.withResolvers<void>();
    const giveUp = this.at.clock.after(interruptGraceMs + terminateGraceMs + shutdownExtraMs, resolve);
    await Promise.race([Promise.all(runs.map((run) => run.done)), promise]);
    giveUp();
  }
}
