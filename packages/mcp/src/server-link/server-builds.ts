import { rmSync } from "node:fs";
import path from "node:path";
import type { Clock } from "@millrace/base/clock";
import { MillraceError } from "@millrace/base/errors";
import type { Log } from "@millrace/base/log";
import type { Random } from "@millrace/base/random";
import type { Build, Invocation as ServerInvocation } from "@millrace/client/client";
import type { Redactor } from "../redact/redactor.ts";
import type { Invocation } from "../store/record.ts";
import { Store } from "../store/store.ts";
import { copyBuild, stateOfStatus } from "./local-copy.ts";
import { type BuildName, type ServerAddress, ServerApi } from "./server-api.ts";

const copiesMax = 8;
/** A running build is not copied again before this, however often it is looked into. */
const copyAgeMinMs = 2_000;

/** A build of the server as it can be looked into here. */
export interface FoundBuild {
  readonly invocation: Invocation;
  readonly store: Store;
}

/** Which build is wanted. */
export interface Wanted {
  readonly invocationId: string;
  /** Needed only when several projects hold the id. */
  readonly project: string | undefined;
  /** Wait this long for its end. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

interface Copy {
  readonly invocation: Invocation;
  readonly attempt: number;
  /** What of the build it shows. */
  readonly version: string;
  readonly madeAtMs: number;
}

/**
 * Builds of a Millrace server. What is asked about is copied into a store that is this process's own and ends with it
 * (upkeep removes what a killed one leaves); the last few copies are kept.
 */
export class ServerBuilds {
  readonly api: ServerApi;
  private readonly at: {
    readonly directory: string;
    readonly clock: Clock;
    readonly random: Random;
    readonly log: Log;
    readonly redactor: Redactor;
  };
  private opened: Store | undefined;
  /** By project and id, the one used last at the end. */
  private readonly copies = new Map<string, Promise<Copy>>();

  constructor(address: ServerAddress, at: ServerBuilds["at"]) {
    this.api = new ServerApi(address, at.clock);
    this.at = at;
  }

  /** The build, copied when the copy at hand is not of now. Fails when the server has none. */
  async find(wanted: Wanted): Promise<FoundBuild> {
    const name = { invocationId: wanted.invocationId, project: await this.projectOf(wanted) };
    let build = await this.build(name);
    if (build.status === "running" && wanted.waitMs > 0) {
      await this.waitFor(name, wanted);
      build = await this.build(name);
    }
    const copy = await this.copyOf(build);
    return { invocation: copy.invocation, store: this.store() };
  }

  private async projectOf(wanted: Wanted): Promise<string> {
    if (wanted.project !== undefined) return wanted.project;
    const projects = await this.api.projectsOf(wanted.invocationId);
    const [only] = projects;
    if (only === undefined) throw this.notFound(wanted.invocationId);
    if (projects.length === 1) return only;
    throw new MillraceError({
      remedy: "reject",
      code: "mcp-server-ambiguous",
      message: `several projects hold invocation ${wanted.invocationId}: give project, one of ${projects.join(", ")}`,
    });
  }

  private async build(name: BuildName): Promise<ServerInvocation> {
    const build = await this.api.invocation(name);
    if (build === undefined) throw this.notFound(name.invocationId);
    return build;
  }

  private notFound(id: string): MillraceError {
    return new MillraceError({
      remedy: "reject",
      code: "mcp-not-found",
      message: `no invocation ${id}, neither here nor on ${this.api.origin}: bazel_inspect with view "invocations" lists what there is, with project what the server has`,
    });
  }

  private async waitFor(name: BuildName, wanted: Wanted): Promise<void> {
    const over = new AbortController();
    const stop = (): void => over.abort();
    const cancel = this.at.clock.after(wanted.waitMs, stop);
    wanted.signal.addEventListener("abort", stop);
    try {
      await this.api.untilEnded(name, { signal: over.signal, clock: this.at.clock });
    } finally {
      cancel();
      wanted.signal.removeEventListener("abort", stop);
    }
  }

  private async copyOf(build: ServerInvocation): Promise<Copy> {
    const key = `${build.project}\u0000${build.invocationId}`;
    // One at a time: who asks meanwhile gets what the first has brought.
    const before = this.copies.get(key)?.catch(() => undefined) ?? Promise.resolve(undefined);
    const copy = before.then((known) => this.current(build, known));
    this.copies.delete(key);
    this.copies.set(key, copy);
    try {
      return await copy;
    } catch (error) {
      if (this.copies.get(key) === copy) this.copies.delete(key);
      throw error;
    } finally {
      await this.dropOldest();
    }
  }

  /** The known copy if it will do. A later one of the same attempt takes its place, so that cursors go on in a growing log. */
  private async current(build: ServerInvocation, known: Copy | undefined): Promise<Copy> {
    const { clock, redactor } = this.at;
    const { attempt, status, lastSequence, logBytes } = build;
    const version = [attempt, status, lastSequence, logBytes].join(" ");
    const isRecent = known !== undefined && clock.now() - known.madeAtMs < copyAgeMinMs;
    if (known !== undefined && (known.version === version || (status === "running" && isRecent)))
      return known;
    const tools = { store: this.store(), redactor, clock };
    const id = known?.attempt === attempt ? known.invocation.request.id : tools.store.newId();
    const invocation = await copyBuild(this.api, { build, id, tools });
    return { invocation, attempt, version, madeAtMs: clock.now() };
  }

  private async dropOldest(): Promise<void> {
    for (const [key, copy] of this.copies) {
      if (this.copies.size <= copiesMax) return;
      this.copies.delete(key);
      const dropped = await copy.catch(() => undefined);
      if (dropped !== undefined) await this.drop(dropped);
    }
  }

  private async drop(copy: Copy): Promise<void> {
    const { id } = copy.invocation.request;
    const store = this.store();
    await store.remove(id);
    rmSync(path.join(store.layout.trash, id), { recursive: true, force: true });
  }

  private store(): Store {
    const { directory, clock, random, log } = this.at;
    this.opened ??= new Store({ root: directory, clock, random, log, useSnapshot: false });
    return this.opened;
  }

  async close(): Promise<void> {
    await this.opened?.close();
    rmSync(this.at.directory, { recursive: true, force: true });
  }
}

/** The server's statuses that are this state here. */
export function statusesOf(state: string): Build["status"][] {
  const all = Object.entries(stateOfStatus) as [Build["status"], string][];
  return all.filter(([, one]) => one === state).map(([status]) => status);
}
