import { type Clock, delay } from "@millrace/base/clock";
import type { Random } from "@millrace/base/random";
import { shardOf } from "@millrace/proto/tokens";
import { type FakeBazelReport, runFakeBazel } from "@millrace/test/model/fake-bazel/fake-bazel";
import type { Workload } from "../workloads/workload.ts";
import { type LoadMeasures, LoadMeter } from "./load-meter.ts";
import type { LoadPlan } from "./load-plan.ts";
import type { LoggedBuild, RunLogWriter } from "./run-log.ts";
import { ShardSilences } from "./shard-silences.ts";

export interface LoadWorld {
  readonly clock: Clock;
  readonly random: Random;
  /** Those of the plan; builds take turns. */
  readonly workloads: readonly Workload[];
  readonly log: RunLogWriter | undefined;
  /** Told when the measuring begins and when it ends. */
  readonly onWindow?: (isOpen: boolean) => void;
}

/**
 * Uploads builds over and over from a fixed number of uploaders, as this process's share of the plan. An uploader begins
 * its next build when the last one is over, as people do; only the events within a build keep to a rate.
 */
export async function runLoad(plan: LoadPlan, world: LoadWorld): Promise<LoadMeasures> {
  const run = new LoadRun(plan, world);
  return await run.run();
}

class LoadRun {
  private readonly plan: LoadPlan;
  private readonly world: LoadWorld;
  private readonly meter: LoadMeter;
  private readonly startMs: number;
  /** When no build is begun any more; undefined when the number of builds decides. */
  private readonly untilMs: number | undefined;
  private readonly silences: ShardSilences | undefined;
  private begun = 0;

  constructor(plan: LoadPlan, world: LoadWorld) {
    this.plan = plan;
    this.world = world;
    this.meter = new LoadMeter(world.clock);
    const { silences } = plan;
    this.silences = silences === undefined ? undefined : new ShardSilences(world.clock, silences.fromMs);
    this.startMs = world.clock.monotonic();
    this.untilMs = plan.seconds === undefined ? undefined : this.openMs + plan.seconds * 1_000;
  }

  private get openMs(): number {
    return this.startMs + (this.plan.rampSeconds + this.plan.warmUpSeconds) * 1_000;
  }

  async run(): Promise<LoadMeasures> {
    const { meter, plan, world } = this;
    const uploads = Array.from({ length: plan.streams }, (_, nth) => this.uploadOver(nth));
    const finished = Promise.all(uploads);
    await this.until(this.openMs);
    meter.open();
    world.onWindow?.(true);
    if (this.untilMs !== undefined) {
      await this.until(this.untilMs);
      this.closeWindow();
    }
    await finished;
    if (this.untilMs === undefined) this.closeWindow();
    await world.log?.flush();
    return meter.measures(this.silences?.taken());
  }

  private closeWindow(): void {
    this.meter.close();
    this.world.onWindow?.(false);
  }

  private async uploadOver(nth: number): Promise<void> {
    const { rampSeconds, streams } = this.plan;
    await this.until(this.startMs + (rampSeconds * 1_000 * nth) / streams);
    while (this.mayBegin()) await this.uploadOne(this.begun++);
  }

  private mayBegin(): boolean {
    const { builds } = this.plan;
    if (builds !== undefined) return this.begun < builds;
    return this.untilMs === undefined || this.world.clock.monotonic() < this.untilMs;
  }

  private async uploadOne(nth: number): Promise<void> {
    const { plan, meter } = this;
    const { clock, random, workloads, log } = this.world;
    const workload = workloads[nth % workloads.length];
    if (workload === undefined) throw new Error("a run has a workload");
    const turn = Math.floor(nth / workloads.length) * plan.share.count + plan.share.index;
    const variant = turn % workload.variants;
    const names = { invocationId: random.uuid(), buildId: random.uuid() };
    const startMs = clock.now();
    const exitCode = workload.exitCode(variant);
    const events = workload.eventsPerBuild;
    const of = { workload: workload.name, workloadHash: workload.hash, variant, startMs, events, exitCode };
    const { silences } = this;
    const shard = shardOf(plan.silences?.project ?? "", names.invocationId);
    const logged = log?.begin({ ...names, ...of });
    const report = await runFakeBazel({
      ...names,
      address: plan.address,
      ...(plan.apiKey === undefined ? {} : { apiKey: plan.apiKey }),
      build: { payloads: workload.payloads(variant) },
      buildExitCode: exitCode,
      transport: "http2",
      clock,
      startMs,
      gapMs: plan.rate === 0 ? 0 : 1_000 / plan.rate,
      ...(this.untilMs === undefined ? {} : { paceUntilMs: this.untilMs }),
      latencyStart: "first-due",
      keepLatencies: false,
      onAck: (sequence, latencyMs) => {
        meter.ack(latencyMs, sequence === events);
        logged?.acked(sequence);
        silences?.ack(shard, latencyMs);
      },
    });
    meter.build(report);
    if (logged !== undefined) this.logEnd(logged, report);
  }

  private logEnd(logged: LoggedBuild, report: FakeBazelReport): void {
    const { sent, resent, acked, message } = report;
    const outcome = message === "" ? "done" : "failed";
    this.world.log?.end(logged, { outcome, sent: sent - resent, acked, resent, message });
  }

  private async until(ms: number): Promise<void> {
    const leftMs = ms - this.world.clock.monotonic();
    if (leftMs > 0) await delay(this.world.clock, Math.ceil(leftMs));
  }
}
