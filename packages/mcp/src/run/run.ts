import { errorText } from "@millrace/base/errors";
import { latch } from "@millrace/base/latch";
import type { Capture } from "../capture/capture.ts";
import { conclude } from "../conclude/conclude.ts";
import { tailOf } from "../conclude/scan-log.ts";
import { tellingLines } from "../diagnose/scan-text.ts";
import { file } from "../store/layout.ts";
import type { HeldLock } from "../store/lease-lock.ts";
import type { Invocation } from "../store/record.ts";
import { Child, type ChildEnd, type StopGraces } from "./child.ts";
import { commandLine, environmentFor } from "./command-line.ts";
import { broken, runEnding, type StopReason, unstarted } from "./ending.ts";
import { keepLookout, lookoutPeriodMs, outputBytes } from "./lookout.ts";
import { runResult } from "./run-outcome.ts";
import type { InvocationSpec } from "./spec.ts";
import type { Surroundings } from "./surroundings.ts";
import { outputBaseKey } from "./workspace.ts";

const readingPhase = "reading the evidence";
const excerptLines = 20;
const excerptBytes = 16 << 10;

/**
 * One invocation from its acceptance to its final record. Owns its locks and its child; every way out releases them and
 * leaves a final record, or, when even that cannot be written, says so in the result.
 */
export class Run {
  readonly spec: InvocationSpec;
  /** Resolves to the final record. Never fails. */
  readonly done: Promise<Invocation>;
  /** The record as it stands. */
  invocation: Invocation;
  capture: Capture;
  /** What it waits for, in words; "" while Bazel works. */
  phase = "waiting for its turn";
  private readonly at: Surroundings;
  private readonly executable: string;
  private readonly stopAsked = latch<StopReason>();
  private stopReason: StopReason | undefined;
  private child: Child | undefined;
  private metrics: Record<string, number> = {};

  constructor(start: {
    spec: InvocationSpec;
    invocation: Invocation;
    executable: string;
    at: Surroundings;
    capture: Capture;
  }) {
    this.spec = start.spec;
    this.invocation = start.invocation;
    this.executable = start.executable;
    this.capture = start.capture;
    this.at = start.at;
    this.done = this.live();
  }

  /** Asks it to end. The first reason counts. */
  cancel(text: string): void {
    this.stop({ kind: "cancelled", text });
  }

  private stop(reason: StopReason): void {
    if (this.stopReason !== undefined) return;
    this.stopReason = reason;
    this.stopAsked.open(reason);
  }

  private async live(): Promise<Invocation> {
    let lock: HeldLock | undefined;
    let permit: (() => void) | undefined;
    const stopLookout = this.keepLookout();
    try {
      const since = this.at.clock.monotonic();
      lock = await this.lockOutputBase();
      permit = lock === undefined ? undefined : await this.at.permits.acquire(this.stopAsked.promise);
      this.metrics.queue_ms = Math.round(this.at.clock.monotonic() - since);
      if (permit === undefined) return await this.finishUnstarted();
      return await this.execute();
    } catch (error) {
      return await this.finishBroken(errorText(error));
    } finally {
      stopLookout();
      permit?.();
      lock?.release();
    }
  }

  private async lockOutputBase(): Promise<HeldLock | undefined> {
    const since = this.at.clock.monotonic();
    const lock = await this.at.locks.acquire({
      key: outputBaseKey({
        workspace: this.spec.workspace,
        startupArgs: this.spec.startupArgs,
        userRoot: this.at.settings.outputUserRoot,
      }),
      invocation: this.spec.id,
      gaveUp: this.stopAsked.promise,
      onBusy: (holder) => {
        const who =
          holder === undefined
            ? "another invocation of this server"
            : `invocation ${holder.purpose} of process ${holder.pid}`;
        this.phase = `waiting for the output base, held by ${who}`;
      },
    });
    this.metrics.output_base_lock_wait_ms = Math.round(this.at.clock.monotonic() - since);
    return lock;
  }

  private async execute(): Promise<Invocation> {
    const { clock } = this.at;
    this.phase = "starting Bazel";
    await this.commit({ ...this.invocation, state: "starting", started_at_ms: clock.now() });
    if (this.stopReason !== undefined) return this.finishUnstarted();
    const since = clock.monotonic();
    const child = this.start();
    await this.commit({ ...this.invocation, state: "running" });
    this.phase = "";
    const cancelTimer = clock.after(this.spec.timeoutMs, () => this.stop({ kind: "timed_out" }));
    const first = await Promise.race([child.ended, this.stopAsked.promise.then(() => undefined)]);
    if (first === undefined) await child.stop(this.graces);
    cancelTimer();
    const end = await child.ended;
    this.metrics.bazel_wall_ms = Math.round(clock.monotonic() - since);
    return this.settle(end);
  }

  /** Bazel has ended: reads the evidence and writes the final record. */
  private async settle(end: ChildEnd): Promise<Invocation> {
    const { store, clock, redactor } = this.at;
    this.phase = readingPhase;
    const finishedAtMs = clock.now();
    const since = clock.monotonic();
    await this.capture.finish();
    const { termination, state, reason } = runEnding(end, {
      stop: this.stopReason,
      timeoutMs: this.spec.timeoutMs,
      outputBytesMax: this.at.settings.maximumRunOutputBytes,
    });
    const reduced = this.capture.reducer.reduced();
    const exitCode = end.kind === "exit" ? end.code : null;
    const summary = await conclude(
      {
        ...{ invocation: this.invocation, reduced, state, exitCode, reason, finishedAtMs },
        bepFault: this.capture.fault,
        filesAre: "here",
      },
      { store, redactor, clock },
    );
    this.metrics.reduction_ms = Math.round(clock.monotonic() - since);
    this.metrics.bep_bytes = this.capture.bytes;
    this.metrics.bep_events = reduced.events;
    this.metrics.raw_output_bytes = outputBytes(this.outputs);
    const canonical = reduced.canonicalArguments;
    const { command, target = "" } = this.spec;
    await this.commit({
      ...this.invocation,
      ...{ state, finished_at_ms: finishedAtMs, termination, summary, metrics: this.metrics },
      ...(command === "run"
        ? { run: runResult({ target, reduced, state, termination, excerpt: this.excerpt() }) }
        : {}),
      ...(canonical === undefined ? {} : { canonical_arguments: redactor.arguments(canonical) }),
      ...(state === "cancelled" ? { cancellation_reason: reason } : {}),
    });
    return this.invocation;
  }

  private start(): Child {
    const { settings, clock } = this.at;
    const child = new Child(
      {
        executable: this.executable,
        args: commandLine(this.spec, this.capture.target),
        cwd: this.spec.workspace,
        environment: environmentFor(this.spec.command, settings.environment),
        ...this.outputs,
      },
      clock,
    );
    this.child = child;
    return child;
  }

  private async commit(invocation: Invocation): Promise<void> {
    this.invocation = invocation;
    await this.at.store.commit(invocation);
  }

  /** Never started: cancelled while it waited. */
  private async finishUnstarted(): Promise<Invocation> {
    await this.capture.finish();
    const text = this.stopReason?.kind === "cancelled" ? this.stopReason.text : "";
    await this.commit({ ...this.invocation, ...unstarted(text, this.at.clock.now()), metrics: this.metrics });
    return this.invocation;
  }

  /** Something of ours failed. The child, if any, must not outlive its record. */
  private async finishBroken(message: string): Promise<Invocation> {
    await this.child?.stop(this.graces);
    this.at.log.error("an invocation failed in the server", { id: this.spec.id, error: message });
    const final = { ...this.invocation, ...broken(message, this.at.clock.now()), metrics: this.metrics };
    try {
      await this.capture.finish();
      await this.commit(final);
    } catch (error) {
      this.at.log.error("its record could not be written", { id: this.spec.id, error: errorText(error) });
      this.invocation = final;
    }
    return this.invocation;
  }

  private get graces(): StopGraces {
    const { interruptGraceMs, terminateGraceMs } = this.at.settings;
    return { interruptMs: interruptGraceMs, terminateMs: terminateGraceMs };
  }

  private excerpt(): string[] {
    const text = tailOf(this.outputs.stdoutPath, excerptBytes);
    return tellingLines(text, excerptLines).map((line) => this.at.redactor.text(line));
  }

  private get outputs(): { readonly stdoutPath: string; readonly stderrPath: string } {
    const { store } = this.at;
    return {
      stdoutPath: store.pathOf(this.spec.id, file.stdout),
      stderrPath: store.pathOf(this.spec.id, file.stderr),
    };
  }

  private keepLookout(): () => void {
    const { clock, store, settings } = this.at;
    return keepLookout({
      clock,
      cancelPath: store.pathOf(this.spec.id, file.cancel),
      ...this.outputs,
      outputBytesMax: this.spec.command === "run" ? settings.maximumRunOutputBytes : undefined,
      onCancel: (reason) => this.cancel(reason),
      onTooMuchOutput: () => this.stop({ kind: "output_limit" }),
      onLook: (isWaiting) => this.noteBazelLock(isWaiting),
    });
  }

  private noteBazelLock(isWaiting: boolean): void {
    if (this.invocation.state !== "running" || this.phase === readingPhase) return;
    this.phase = isWaiting ? "waiting for another Bazel command in this output base" : "";
    if (!isWaiting) return;
    this.metrics.output_base_lock_wait_ms = (this.metrics.output_base_lock_wait_ms ?? 0) + lookoutPeriodMs;
  }
}
