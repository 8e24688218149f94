import { changed, type SignalQueue, type Slot } from "./entities.ts";

/**
 * The slots of a queue are a set by owner, not a counter: claiming twice and releasing twice change nothing, so any
 * step may be repeated. Each function returns `undefined` when there is nothing to store.
 */
export function holdsSlot(queue: SignalQueue, owner: string): boolean {
  return queue.slots.some((slot) => slot.owner === owner);
}

export function claimSlot(queue: SignalQueue, slot: Slot): SignalQueue | undefined {
  return holdsSlot(queue, slot.owner) ? undefined : changed(queue, { slots: [...queue.slots, slot] });
}

/** Frees the owner's slot; `nextAdmissionAtMs` is set in the same change and never moved back. */
export function releaseSlot(
  queue: SignalQueue,
  release: { owner: string; nextAdmissionAtMs?: number },
): SignalQueue | undefined {
  if (!holdsSlot(queue, release.owner)) return undefined;
  return changed(queue, {
    slots: queue.slots.filter((slot) => slot.owner !== release.owner),
    nextAdmissionAtMs: Math.max(queue.nextAdmissionAtMs, release.nextAdmissionAtMs ?? 0),
  });
}

/** Owners whose slots are past their time; whether they may be freed is their requests' affair. */
export function expiredOwners(queue: SignalQueue, nowMs: number): string[] {
  return queue.slots.filter((slot) => slot.expiresAtMs <= nowMs).map((slot) => slot.owner);
}
