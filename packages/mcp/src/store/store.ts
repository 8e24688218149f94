import { mkdirSync, readdirSync, renameSync, statSync } from "node:fs";
import type { Clock } from "@millrace/base/clock";
import { errorCode, errorText, MillraceError } from "@millrace/base/errors";
import type { Log } from "@millrace/base/log";
import type { Random } from "@millrace/base/random";
import { CommitQueue } from "./commit-queue.ts";
import { Publisher, readJournal, readMarkers } from "./journal.ts";
import { file, invocationDirectory, type Layout, layoutOf } from "./layout.ts";
import { encodeManifest } from "./manifest.ts";
import { type OpenedIndex, openIndex, reload } from "./open-index.ts";
import { claimPrivateDirectory, directoryMode, replaceFile } from "./private-file.ts";
import { type Invocation, isTerminal, mayBecome } from "./record.ts";
import { type Entry, entryOf, type RecordIndex } from "./record-index.ts";
import { Telemetry } from "./telemetry.ts";
import { makeUuid7 } from "./uuid7.ts";
import { readManifest, readSmallFile } from "./walk.ts";

export interface StoreSettings {
  readonly root: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** False reads every manifest at the start; for benchmarks and `doctor`. */
  readonly useSnapshot?: boolean;
}

const telemetryDelayMs = 250;
const refreshPeriodMs = 1;

/**
 * The private file store of one server process. Several processes share one root: each writes only the records that it
 * owns (see `journal.ts`), and sees the others' changes as deltas. Not safe against power loss, by design: no fsync.
 */
export class Store {
  readonly layout: Layout;
  readonly publisher: Publisher;
  readonly index: RecordIndex;
  /** Records that cannot be read, with the reason. They are never skipped silently and never deleted. */
  readonly damaged: Map<string, string>;
  readonly openedFrom: OpenedIndex["from"];
  readonly journals: Map<string, number>;
  /** Invocation directories without a manifest, as the start found them. */
  readonly emptyDirectories: readonly string[];
  readonly settings: StoreSettings;
  readonly queue: CommitQueue;
  private readonly telemetry = new Telemetry();
  private refreshedAtMs = 0;
  private cancelFlush: (() => void) | undefined;
  private writes = 0;
  /** Manifest writes and their bytes, for the benchmark. */
  readonly written = { commits: 0, bytes: 0, recounts: 0 };

  constructor(settings: StoreSettings) {
    this.settings = settings;
    this.layout = layoutOf(settings.root);
    claimPrivateDirectory(settings.root);
    for (const directory of [this.layout.invocations, this.layout.changes, this.layout.trash]) {
      claimPrivateDirectory(directory);
    }
    this.publisher = new Publisher({
      directory: this.layout.changes,
      id: makeUuid7(settings.clock, settings.random),
    });
    this.queue = new CommitQueue(this.publisher);
    const opened = openIndex(this.layout, { useSnapshot: settings.useSnapshot ?? true });
    this.index = opened.index;
    this.damaged = opened.damaged;
    this.journals = opened.journals;
    this.openedFrom = opened.from;
    this.emptyDirectories = opened.empty;
  }

  newId(): string {
    return makeUuid7(this.settings.clock, this.settings.random);
  }

  directory(id: string): string {
    return invocationDirectory(this.layout, id);
  }

  pathOf(id: string, name: string): string {
    return `${this.directory(id)}/${name}`;
  }

  /** Makes the record of a new invocation durable. */
  create(invocation: Invocation): Promise<void> {
    const id = invocation.request.id;
    return this.queue.commit(id, () => {
      mkdirSync(this.directory(id), { recursive: true, mode: directoryMode });
      this.writeManifest(invocation);
    });
  }

  /** Writes a changed record. The caller owns it; a transition that the states do not allow is refused. */
  commit(invocation: Invocation): Promise<void> {
    const id = invocation.request.id;
    return this.queue.commit(id, () => {
      const before = this.index.get(id);
      if (before !== undefined && !mayBecome(before.state, invocation.state)) {
        throw new MillraceError({
          remedy: "reject",
          code: "mcp-state-final",
          message: `invocation ${id} is ${before.state} and cannot become ${invocation.state}`,
        });
      }
      if (!isTerminal(invocation.state)) return this.writeManifest(invocation);
      this.writeManifest({
        ...invocation,
        metrics: this.telemetry.take(id, invocation.metrics),
        payload_bytes: this.countPayload(id),
      });
    });
  }

  private writeManifest(invocation: Invocation): void {
    const id = invocation.request.id;
    const text = encodeManifest(invocation);
    this.writes += 1;
    const temporary = `${this.publisher.id.slice(-12)}-${this.writes}`;
    replaceFile({ directory: this.directory(id), name: file.manifest, temporary }, text);
    this.written.commits += 1;
    this.written.bytes += text.length;
    this.index.set(entryOf(invocation));
  }

  /** Bytes of everything but the manifest. */
  countPayload(id: string): number {
    this.written.recounts += 1;
    let bytes = 0;
    for (const name of readdirSync(this.directory(id))) {
      if (name !== file.manifest && !name.endsWith(".tmp")) bytes += statSync(this.pathOf(id, name)).size;
    }
    return bytes;
  }

  /** A sidecar; one that would be empty is not written. */
  writeSidecar(id: string, name: string, content: object): void {
    const text = JSON.stringify(content);
    if (text === "{}" || text === "[]") return;
    this.writes += 1;
    const temporary = `${this.publisher.id.slice(-12)}-${this.writes}`;
    replaceFile({ directory: this.directory(id), name, temporary }, text);
  }

  /** A sidecar's content, or undefined when there is none. Damage is an error. */
  readSidecar<T extends object>(id: string, name: string): T | undefined {
    try {
      return JSON.parse(readSmallFile(this.pathOf(id, name))) as T;
    } catch (error) {
      if (errorCode(error) === "ENOENT") return undefined;
      throw new MillraceError({
        remedy: "reject",
        code: "mcp-sidecar-corrupt",
        message: `${this.pathOf(id, name)} cannot be read: the evidence is damaged`,
        cause: error,
      });
    }
  }

  lookup(id: string): Entry | undefined {
    return this.index.get(id);
  }

  /** The record of `id`, undefined when there is none. A damaged one is an error that says so. */
  find(id: string): Invocation | undefined {
    return readManifest(this.layout, id);
  }

  /** The record of `id`. Unknown and damaged ones are errors that say so. */
  read(id: string): Invocation {
    const invocation = this.find(id);
    if (invocation !== undefined) return invocation;
    throw new MillraceError({
      remedy: "reject",
      code: "mcp-not-found",
      message: `no invocation ${id}: it never existed here or retention has removed it; bazel_inspect with view "invocations" lists what there is`,
    });
  }

  /** Takes in what other processes changed since the last look; at most once a millisecond. */
  refresh(): void {
    const now = this.settings.clock.monotonic();
    if (now - this.refreshedAtMs < refreshPeriodMs) return;
    this.refreshedAtMs = now;
    const markers = readMarkers(this.layout.changes);
    for (const marker of markers) {
      const from = this.journals.get(marker.id) ?? 0;
      if (marker.id === this.publisher.id || from >= marker.settled) continue;
      const range = { publisher: marker.id, from, to: marker.settled };
      const read = readJournal(this.layout.changes, range);
      for (const id of read.ids) reload(this.layout, id, this);
      this.journals.set(marker.id, read.end);
    }
  }

  /** Moves an invocation's directory away, which is its deletion; the caller removes what is in the trash. */
  async remove(id: string): Promise<void> {
    await this.queue.commit(id, () => {
      renameSync(this.directory(id), `${this.layout.trash}/${id}`);
      this.index.delete(id);
    });
  }

  /** Rewrites a final record in place, whoever owns it: only what retention changes. */
  async amend(id: string, change: (invocation: Invocation) => Invocation): Promise<void> {
    await this.queue.commit(id, () => {
      const invocation = readManifest(this.layout, id);
      if (invocation !== undefined) this.writeManifest(change(invocation));
    });
  }

  /** Counts something of an invocation; written a quarter of a second later, or with its next commit. */
  count(id: string, counter: Parameters<Telemetry["add"]>[1], amount: number): void {
    this.telemetry.add(id, counter, amount);
    this.cancelFlush ??= this.settings.clock.after(telemetryDelayMs, () => void this.flushTelemetry());
  }

  /** Only our own final records: a running one gets its counts with its last commit, others' are theirs to write. */
  async flushTelemetry(): Promise<void> {
    this.cancelFlush = undefined;
    const mine = this.telemetry.ids().filter((id) => {
      const entry = this.index.get(id);
      return entry !== undefined && entry.owner === this.publisher.id && isTerminal(entry.state);
    });
    try {
      await Promise.all(
        mine.map((id) =>
          this.queue.commit(id, () => {
            const invocation = readManifest(this.layout, id);
            if (invocation === undefined) return;
            this.writeManifest({ ...invocation, metrics: this.telemetry.take(id, invocation.metrics) });
          }),
        ),
      );
    } catch (error) {
      this.settings.log.warn("telemetry not written", { error: errorText(error) });
    }
  }

  async close(): Promise<void> {
    this.cancelFlush?.();
    await this.flushTelemetry();
    this.publisher.close();
  }
}
