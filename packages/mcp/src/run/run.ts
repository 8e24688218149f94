import { existsSync, readFileSync, statSync } from "node:fs";
import { errorText } from "@millrace/base/errors";
import { latch } from "@millrace/base/latch";
import type { Capture } from "../capture/capture.ts";
import { conclude } from "../conclude/conclude.ts";
import { tailOf } from "../conclude/scan-log.ts";
import { tellingLines } from "../diagnose/scan-text.ts";
import { file } from "../store/layout.ts";
import type { HeldLock } from "../store/lease-lock.ts";
import type { Invocation, State, Termination } from "../store/record.ts";
import { Child, type ChildEnd } from "./child.ts";
import { commandLine } from "./command-line.ts";
import { runResult } from "./run-outcome.ts";
import type { InvocationSpec } from "./spec.ts";
import type { Surroundings } from "./surroundings.ts";
import { outputBaseKey } from "./workspace.ts";

const watchPeriodMs = 250;
const excerptLines = 20;
const excerptBytes = 16 << 10;

/** Why a run is to end before Bazel does. */
type StopReason =
  | { readonly kind: "cancelled"; readonly text: string }
  | { readonly kind: "timed_out" }
  | { readonly kind: "output_limit" };

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
  private stopWatching: (() => void) | undefined;

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
    try {
      const since = this.at.clock.monotonic();
      this.watch();
      lock = await this.lockOutputBase();
      permit = lock === undefined ? undefined : await this.at.permits.acquire(this.stopAsked.promise);
      this.metrics.queue_ms = Math.round(this.at.clock.monotonic() - since);
      if (permit === undefined) return await this.finishUnstarted();
      return await this.execute();
    } catch (error) {
      return await this.finishBroken(errorText(error));
    } finally {
      this.stopWatching?.();
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
    if (first === undefined)
      await child.stop({
        interruptMs: this.at.settings.interruptGraceMs,
        terminateMs: this.at.settings.terminateGraceMs,
      });
    cancelTimer();
    const end = await child.ended;
    this.metrics.bazel_wall_ms = Math.round(clock.monotonic() - since);
    return this.settle(end);
  }

  /** Bazel has ended: reads the evidence and writes the final record. */
  private async settle(end: ChildEnd): Promise<Invocation> {
    const { store, clock, redactor } = this.at;
    this.phase = "reading the evidence";
    const finishedAtMs = clock.now();
    const since = clock.monotonic();
    await this.capture.finish();
    const termination = this.terminationOf(end);
    const state = stateOf(termination);
    const reason = this.reasonText(termination);
    const reduced = this.capture.reducer.reduced();
    const exitCode = end.kind === "exit" ? end.code : null;
    const summary = await conclude(
      {
        ...{ invocation: this.invocation, reduced, state, exitCode, reason, finishedAtMs },
        bepFault: this.capture.fault,
      },
      { store, redactor, clock },
    );
    this.metrics.reduction_ms = Math.round(clock.monotonic() - since);
    this.metrics.bep_bytes = this.capture.bytes;
    this.metrics.bep_events = reduced.events;
    this.metrics.raw_output_bytes = this.outputBytes();
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
    const { store, settings, clock } = this.at;
    const child = new Child(
      {
        executable: this.executable,
        args: commandLine(this.spec, this.capture.target),
        cwd: this.spec.workspace,
        environment: settings.environment,
        stdoutPath: store.pathOf(this.spec.id, file.stdout),
        stderrPath: store.pathOf(this.spec.id, file.stderr),
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
    await this.commit({
      ...this.invocation,
      state: "cancelled",
      finished_at_ms: this.at.clock.now(),
      termination: { kind: "cancelled" },
      cancellation_reason: text,
      metrics: this.metrics,
      summary: emptySummary(`Cancelled before Bazel was started${text === "" ? "" : `: ${text}`}`),
    });
    return this.invocation;
  }

  /** Something of ours failed. The child, if any, must not outlive its record. */
  private async finishBroken(message: string): Promise<Invocation> {
    await this.child?.stop({
      interruptMs: this.at.settings.interruptGraceMs,
      terminateMs: this.at.settings.terminateGraceMs,
    });
    this.at.log.error("an invocation failed in the server", { id: this.spec.id, error: message });
    const final: Invocation = {
      ...this.invocation,
      state: "failed",
      finished_at_ms: this.at.clock.now(),
      termination: { kind: "spawn_failure", message },
      metrics: this.metrics,
      summary: emptySummary(`The server could not finish this invocation: ${message}`),
    };
    try {
      await this.capture.finish();
      await this.commit(final);
    } catch (error) {
      this.at.log.error("its record could not be written", { id: this.spec.id, error: errorText(error) });
      this.invocation = final;
    }
    return this.invocation;
  }

  private terminationOf(end: ChildEnd): Termination {
    if (end.kind === "spawn_failure") return end;
    // A command that ended by itself just before the stop took effect has its own result.
    if (end.kind === "exit" && end.code === 0) return end;
    switch (this.stopReason?.kind) {
      case "cancelled":
        return { kind: "cancelled" };
      case "timed_out":
        return { kind: "timeout" };
      case "output_limit":
        return { kind: "output_limit", maximum_bytes: this.at.settings.maximumRunOutputBytes };
      default:
        return end;
    }
  }

  private reasonText(termination: Termination): string {
    switch (termination.kind) {
      case "cancelled":
        return this.stopReason?.kind === "cancelled" ? this.stopReason.text : "";
      case "timeout":
        return `after ${this.spec.timeoutMs / 1000} s`;
      case "output_limit":
        return `the program printed more than ${termination.maximum_bytes} bytes and was stopped`;
      case "signal":
        return `Bazel was ended by ${termination.signal}`;
      case "spawn_failure":
        return `Bazel could not be started: ${termination.message}`;
      default:
        return "";
    }
  }

  private excerpt(): string[] {
    const text = tailOf(this.at.store.pathOf(this.spec.id, file.stdout), excerptBytes);
    return tellingLines(text, excerptLines).map((line) => this.at.redactor.text(line));
  }

  private outputBytes(): number {
    return (
      sizeOf(this.at.store.pathOf(this.spec.id, file.stdout)) +
      sizeOf(this.at.store.pathOf(this.spec.id, file.stderr))
    );
  }

  /** Looks now and then for what nobody tells us: a cancel from another process, too much output, Bazel's own lock. */
  private watch(): void {
    const { clock, store, settings } = this.at;
    const stderr = store.pathOf(this.spec.id, file.stderr);
    const look = (): void => {
      const asked = store.pathOf(this.spec.id, file.cancel);
      if (existsSync(asked)) this.cancel(readReason(asked));
      if (this.spec.command === "run" && this.outputBytes() > settings.maximumRunOutputBytes) {
        this.stop({ kind: "output_limit" });
      }
      if (this.invocation.state === "running" && this.phase !== "reading the evidence") {
        const isWaiting = waitsForBazelLock(stderr);
        this.phase = isWaiting ? "waiting for another Bazel command in this output base" : "";
        if (isWaiting)
          this.metrics.output_base_lock_wait_ms =
            (this.metrics.output_base_lock_wait_ms ?? 0) + watchPeriodMs;
      }
      this.stopWatching = clock.after(watchPeriodMs, look);
    };
    this.stopWatching = clock.after(watchPeriodMs, look);
  }
}

function stateOf(termination: Termination): State {
  if (termination.kind === "exit") return termination.code === 0 ? "succeeded" : "failed";
  if (termination.kind === "cancelled") return "cancelled";
  return termination.kind === "timeout" ? "timed_out" : "failed";
}

export function emptySummary(headline: string): NonNullable<Invocation["summary"]> {
  return {
    headline,
    targets: { requested: 0, succeeded: 0, failed: 0 },
    tests: { passed: 0, failed: 0, flaky: 0, skipped: 0, incomplete: 0 },
    elapsed_ms: 0,
  };
}

const lockMessageBytes = 4 << 10;

/** Bazel's client says so as the last thing, and goes on to other output when it gets its turn. */
function waitsForBazelLock(stderr: string): boolean {
  const lines = tailOf(stderr, lockMessageBytes).trimEnd().split("\n");
  return /^Another command .*(is running|Waiting for it to complete)/.test(lines.at(-1) ?? "");
}

function readReason(path: string): string {
  try {
    const asked = JSON.parse(readFileSync(path, "utf8")) as { reason?: unknown };
    return typeof asked.reason === "string" ? asked.reason : "";
  } catch {
    return ""; // Being written: that it is there says enough.
  }
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    return 0; // Not written yet.
  }
}
