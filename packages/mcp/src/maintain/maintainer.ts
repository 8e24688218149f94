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
      // First of all, for on a full disk the rest needs the room.
      await emptyTrash(store.layout);
      store.refresh();
      const dead = await this.takeOverWhereThereIsRoom();
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

  /** On a full disk it waits for the next pass: this one makes room. */
  private async takeOverWhereThereIsRoom(): Promise<ReturnType<typeof readMarkers>> {
    try {
      return await this.takeOverDeadPublishers();
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      this.tools.log.warn("dead servers are not cleared away", { error: errorText(error) });
      return [];
    }
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
    for (let at = 0; at < ids.length; at += removalsPerNotice) {
      const some = ids.slice(at, at + removalsPerNotice);
      try {
        await this.removeSome(some);
      } catch (error) {
        if (!isDiskFull(error)) throw error;
        // Even a removal is written down first. What is going anyway makes the room for that.
        for (const id of some)
          for (const name of evidenceFiles) removeIfThere(this.tools.store.pathOf(id, name));
        await this.removeSome(some.filter((id) => this.tools.store.lookup(id) !== undefined));
      }
    }
  }

  private async removeSome(ids: readonly string[]): Promise<void> {
    await Promise.all(ids.map((id) => this.tools.store.remove(id)));
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
  return error instanceof MillraceError && ["mcp-store-enospc", "mcp-store-edquot"].includes(error.code);
}

function removeIfThere(file: string): void {
  try {
    unlinkSync(file);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
}
