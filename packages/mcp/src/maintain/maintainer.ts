import { readdirSync, unlinkSync } from "node:fs";
import { every } from "@millrace/base/clock";
import { errorCode, errorText, MillraceError } from "@millrace/base/errors";
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
import { emptyTrash, removeCopiesOfDead } from "./leavings.ts";
import { recoverOrphans } from "./recover.ts";
import { planRetention, type RetentionPlan, type RetentionSettings } from "./retention.ts";

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

/** What one turn of the event loop takes: answers wait for no longer than about a millisecond. */
const removalsPerNotice = 8;
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
    try {
      return await this.passOnce();
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      await this.makeRoom();
      return this.passOnce();
    }
  }

  private async passOnce(): Promise<MaintenanceReport | MaintenanceBusy> {
    const { store, clock } = this.tools;
    // Also when another process does the rest: nobody falls behind by more than one period.
    store.refresh();
    const attempt = tryLock({ directory: store.layout.maintenance, purpose: "upkeep", clock });
    if (attempt.kind === "busy") return { kind: "busy", holderPid: attempt.holder.pid };
    return this.passLocked(attempt.lock);
  }

  /**
   * On a disk that is full to the last byte neither the lock nor the notice of a removal can be written. The raw output of what
   * retention takes anyway goes first, without either: whoever else does the same removes the same files.
   */
  private async makeRoom(): Promise<void> {
    const { store } = this.tools;
    await emptyTrash(store.layout);
    const plan = this.plan();
    for (const id of [...plan.remove, ...plan.expireEvidence]) {
      for (const name of evidenceFiles) removeIfThere(store.pathOf(id, name));
    }
  }

  private plan(): RetentionPlan {
    const { store, clock } = this.tools;
    return planRetention(store.index.oldest(), { settings: this.settings, nowMs: clock.now() });
  }

  private async passLocked(lock: HeldLock): Promise<MaintenanceReport> {
    const { store, clock } = this.tools;
    try {
      store.refresh();
      const dead = await this.takeOverDeadPublishers();
      const recovered = await recoverOrphans(this.tools);
      const plan = this.plan();
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
      removeCopiesOfDead(store.layout, clock.now());
      await emptyTrash(store.layout);
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
}

function isDiskFull(error: unknown): boolean {
  const cause = error instanceof MillraceError ? error.cause : error;
  return ["ENOSPC", "EDQUOT"].includes(errorCode(cause));
}

function removeIfThere(file: string): void {
  try {
    unlinkSync(file);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
}
