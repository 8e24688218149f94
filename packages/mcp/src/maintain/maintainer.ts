import { readdirSync, rmdirSync, rmSync, unlinkSync } from "node:fs";
import path from "node:path";
import { every } from "@millrace/base/clock";
import { errorCode, errorText } from "@millrace/base/errors";
import type { Log } from "@millrace/base/log";
import type { Tools } from "../conclude/conclude.ts";
import {
  publisherIsDead,
  readJournal,
  readMarkers,
  removePublisher,
  touchPeriodMs,
} from "../store/journal.ts";
import { evidenceFiles, file } from "../store/layout.ts";
import { type HeldLock, tryLock } from "../store/lease-lock.ts";
import { reload } from "../store/open-index.ts";
import { writeSnapshot } from "../store/snapshot.ts";
import { uuid7TimeMs } from "../store/uuid7.ts";
import { listShards } from "../store/walk.ts";
import { recoverOrphans } from "./recover.ts";
import { planRetention, type RetentionSettings } from "./retention.ts";

/** What one pass did. */
export interface MaintenanceReport {
  readonly kind: "done";
  readonly recovered: number;
  readonly removed: number;
  readonly evidenceExpired: number;
}

/** Another process is at it. */
export interface MaintenanceBusy {
  readonly kind: "busy";
  readonly holderPid: number;
}

const removalsPerNotice = 16;
/** A directory younger than this may be a creation under way. */
const emptyDirectoryAgeMs = 60_000;

/**
 * Upkeep of a shared root, done by one process at a time: finishes records of dead servers, applies retention, empties the
 * trash, writes the snapshot and clears away dead publishers. No lock is held while Bazel runs.
 */
export class Maintainer {
  private readonly tools: Tools & { readonly log: Log };
  private readonly settings: RetentionSettings;
  private stops: (() => void)[] = [];

  constructor(tools: Tools & { readonly log: Log }, settings: RetentionSettings) {
    this.tools = tools;
    this.settings = settings;
  }

  /** Works now and then on; touches our lease for those who cannot see our process. */
  start(periodMs: number): void {
    const { clock, store, log } = this.tools;
    const attempt = async (): Promise<void> => {
      try {
        await this.pass();
      } catch (error) {
        log.warn("upkeep failed", { error: errorText(error) });
      }
    };
    this.stops = [
      every(clock, periodMs, attempt),
      every(clock, touchPeriodMs, () => store.publisher.touch(new Date(clock.now()))),
    ];
    void attempt();
  }

  stop(): void {
    for (const stop of this.stops.splice(0)) stop();
  }

  /** One pass, unless another process is at it. */
  async pass(): Promise<MaintenanceReport | MaintenanceBusy> {
    const { store, clock } = this.tools;
    // Also when another process does the rest: nobody falls behind by more than one period.
    store.refresh();
    const attempt = tryLock({ directory: store.layout.maintenance, purpose: "upkeep", clock });
    if (attempt.kind === "busy") return { kind: "busy", holderPid: attempt.holder.pid };
    return this.passLocked(attempt.lock);
  }

  private async passLocked(lock: HeldLock): Promise<MaintenanceReport> {
    const { store, clock } = this.tools;
    try {
      store.refresh();
      const dead = await this.takeOverDeadPublishers();
      const recovered = await recoverOrphans(this.tools);
      const plan = planRetention(store.index.oldest(), { settings: this.settings, nowMs: clock.now() });
      await this.expireEvidence(plan.expireEvidence);
      await this.remove([...plan.remove, ...this.abandonedDirectories()]);
      this.writeSnapshot();
      for (const publisher of dead) removePublisher(store.layout.changes, publisher);
      for (const publisher of dead) store.journals.delete(publisher.id);
      return {
        ...{ kind: "done", recovered, removed: plan.remove.length },
        evidenceExpired: plan.expireEvidence.length,
      };
    } finally {
      lock.release();
      this.removeCopiesOfDead();
      await this.emptyTrash();
    }
  }

  /**
   * All that dead publishers announced, settled or not (their last change may lack its notice), is read and announced
   * again as ours: a reader that never saw such a publisher, because it lived and died between two looks, still learns of it.
   */
  private async takeOverDeadPublishers(): Promise<ReturnType<typeof readMarkers>> {
    const { store, clock } = this.tools;
    const { changes } = store.layout;
    const dead = readMarkers(changes).filter(
      ({ id }) =>
        id !== store.publisher.id && publisherIsDead(changes, { publisher: id, nowMs: clock.now() }),
    );
    for (const publisher of dead) {
      const { ids } = readJournal(changes, { publisher: publisher.id, from: 0 });
      await Promise.all(
        ids.map((id) =>
          store.queue.commit(id, () => {
            reload(store.layout, id, store);
          }),
        ),
      );
    }
    return dead;
  }

  private async expireEvidence(ids: readonly string[]): Promise<void> {
    const { store } = this.tools;
    for (const id of ids) {
      for (const name of evidenceFiles) removeIfThere(store.pathOf(id, name));
      await store.amend(id, (invocation) => ({
        ...invocation,
        evidence_expired: true,
        payload_bytes: store.countPayload(id),
      }));
    }
  }

  private async remove(ids: readonly string[]): Promise<void> {
    const { store } = this.tools;
    for (let at = 0; at < ids.length; at += removalsPerNotice) {
      await Promise.all(ids.slice(at, at + removalsPerNotice).map((id) => store.remove(id)));
    }
  }

  /** Directories whose creation was interrupted before there was a manifest. */
  private abandonedDirectories(): string[] {
    const { store, clock } = this.tools;
    return store.emptyDirectories.filter((id) => {
      if (clock.now() - uuid7TimeMs(id) < emptyDirectoryAgeMs) return false;
      try {
        return !readdirSync(store.directory(id)).includes(file.manifest);
      } catch {
        return false; // Cleared away already.
      }
    });
  }

  writeSnapshot(): void {
    const { store } = this.tools;
    // Before the entries: what is created meanwhile changes its shard again and is then looked at.
    const shards = listShards(store.layout);
    const journals = new Map(store.journals);
    journals.set(store.publisher.id, store.publisher.settled);
    writeSnapshot(store.layout.snapshot, { journals, shards, entries: [...store.index.oldest()] });
  }

  /** Copies of a Millrace server's builds belong to the process that made them. */
  private removeCopiesOfDead(): void {
    const { store, clock } = this.tools;
    const { ofServer, changes } = store.layout;
    for (const publisher of namesIn(ofServer)) {
      const isDead = publisherIsDead(changes, { publisher, nowMs: clock.now() });
      if (isDead) rmSync(path.join(ofServer, publisher), { recursive: true, force: true });
    }
  }

  /** Outside of every lock, a few at a time so that answers do not wait. */
  private async emptyTrash(): Promise<void> {
    const { trash } = this.tools.store.layout;
    let removed = 0;
    for (const name of readdirSync(trash)) {
      removeFlat(path.join(trash, name));
      removed += 1;
      if (removed % removalsPerTurn === 0) await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }
}

const removalsPerTurn = 4;

/** An invocation's directory holds files only, so this is a tenth of what a recursive removal costs. */
function removeFlat(directory: string): void {
  try {
    for (const name of readdirSync(directory)) unlinkSync(path.join(directory, name));
    rmdirSync(directory);
  } catch {
    // Not as we make them: a damaged or foreign entry.
    rmSync(directory, { recursive: true, force: true });
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}

function removeIfThere(file: string): void {
  try {
    unlinkSync(file);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
}
