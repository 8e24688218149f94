import type { Clock } from "@millrace/base/clock";
import { MillraceError } from "@millrace/base/errors";
import { blobSettings } from "@millrace/blobs/settings";
import { migrate } from "@millrace/db/migrate";
import type { LogLine } from "../logs/log-line.ts";
import { Part, type PartReport } from "../supervise/part.ts";
import { apiPart, buildsignalPart, ingestPart, natsPart, postgresPart, writerPart } from "./parts.ts";
import { type Found, grpcUrl, hasSignalQueues, httpUrl, opsUrl, type UpPlan } from "./plan.ts";
import { identifyProcess, type ProcessIdentity } from "./process-identity.ts";
import { type Addresses, writeState } from "./running-state.ts";

/** Who hears of what happens. */
export interface MillraceWorld {
  readonly clock: Clock;
  onLine(line: LogLine): void;
  onReport(report: PartReport): void;
}

/**
 * All processes of one Millrace. Started in the order in which they need each other; stopped so that the front door
 * can still send the acks of what it has taken, and the database goes last.
 */
export class Millrace {
  readonly found: Found;
  readonly #plan: UpPlan;
  readonly #postgres: Part | undefined;
  readonly #nats: Part | undefined;
  readonly #writers: readonly Part[];
  readonly #ingest: Part;
  readonly #api: Part;
  readonly #buildsignal: Part | undefined;
  readonly #processes: Record<string, ProcessIdentity> = {};
  #addresses: Addresses | undefined;
  #isStopping = false;

  constructor(plan: UpPlan, world: MillraceWorld) {
    const { databaseUrl, natsUrl, grpcPort, opsPort, httpPort } = plan;
    this.found = { databaseUrl, databaseTcpUrl: databaseUrl, natsUrl, grpcPort, opsPort, httpPort };
    this.#plan = plan;
    const context = { plan, found: this.found, clock: world.clock, onLine: world.onLine };
    const partWorld = {
      clock: world.clock,
      restarts: plan.restarts,
      onReport: world.onReport,
      onProcess: (part: string, pid: number) => this.#note(part, pid),
    };
    const supervised = (spec: ReturnType<typeof ingestPart>): Part => new Part(spec, partWorld);
    this.#postgres = databaseUrl === "" ? supervised(postgresPart(context)) : undefined;
    this.#nats = natsUrl === "" ? supervised(natsPart(context)) : undefined;
    this.#writers = Array.from({ length: plan.writers }, (_, index) =>
      supervised(writerPart(context, index + 1)),
    );
    this.#ingest = supervised(ingestPart(context));
    this.#api = supervised(apiPart(context));
    this.#buildsignal = hasSignalQueues(plan) ? supervised(buildsignalPart(context)) : undefined;
  }

  /** Resolves when everything is ready; rejects with what is in the way. `stop` is to be called in either case. */
  async start(): Promise<Addresses> {
    // What an earlier run has left there is not true any more.
    this.#write();
    await startAll([this.#postgres, this.#nats]);
    if (!this.#isStopping) await this.#migrate();
    // The API tells people the front door's port; one that is free by chance is known only when it listens.
    const isPortKnown = this.#plan.grpcPort !== 0;
    if (!this.#isStopping) await startAll([...this.#writers, ...(isPortKnown ? [this.#api] : [])]);
    if (!this.#isStopping) await startAll([this.#ingest, this.#buildsignal]);
    if (!this.#isStopping && !isPortKnown) await startAll([this.#api]);
    this.#addresses = {
      grpcUrl: grpcUrl(this.#plan, this.found),
      httpUrl: httpUrl(this.#plan, this.found),
      opsUrl: opsUrl(this.#plan, this.found),
      databaseUrl: this.found.databaseTcpUrl,
      natsUrl: this.found.natsUrl,
      blobDirectory: this.#plan.blobDirectory,
      s3Endpoint: this.#plan.environment[blobSettings.s3Endpoint.environmentName] ?? "",
      s3Bucket: this.#plan.environment[blobSettings.s3Bucket.environmentName] ?? "",
    };
    this.#write();
    return this.#addresses;
  }

  /** Finishes what is in hand and ends everything that was started. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const stage of this.#stages()) await Promise.all(stage.map((part) => part.stop()));
  }

  /** Ends everything at once. What is committed is safe. */
  kill(): void {
    this.#isStopping = true;
    for (const part of this.#stages().flat()) {
      void part.stop();
      part.kill();
    }
  }

  /** Process numbers by name, of what runs now. */
  processes(): Record<string, number> {
    const running = this.#stages().flat();
    return Object.fromEntries(running.flatMap(({ name, pid }) => (pid === undefined ? [] : [[name, pid]])));
  }

  /** In the order in which they are stopped. */
  #stages(): readonly (readonly Part[])[] {
    const present = (part: Part | undefined): Part[] => (part === undefined ? [] : [part]);
    return [
      [this.#ingest, ...present(this.#buildsignal)],
      this.#writers,
      [this.#api],
      present(this.#nats),
      present(this.#postgres),
    ];
  }

  async #migrate(): Promise<void> {
    try {
      await migrate(this.found.databaseUrl);
    } catch (cause) {
      const whose =
        this.#postgres === undefined ? "The PostgreSQL of --database-url" : "The embedded PostgreSQL";
      const message = `${whose} cannot be brought to the schema that is needed`;
      throw new MillraceError({ remedy: "crash", code: "migrate", message, cause });
    }
  }

  #note(part: string, pid: number): void {
    const identity = identifyProcess(pid);
    if (identity === undefined) return; // It has died already, which its part will see.
    this.#processes[part] = identity;
    this.#write();
  }

  #write(): void {
    writeState(this.#plan.dataDir, {
      processes: this.#processes,
      ...(this.#addresses !== undefined && { addresses: this.#addresses }),
    });
  }
}

async function startAll(parts: readonly (Part | undefined)[]): Promise<void> {
  await Promise.all(parts.map((part) => part?.start()));
}
