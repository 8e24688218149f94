import { Actor } from "@millrace/actors/core/actor";
import { BatchBuilder } from "@millrace/actors/core/batch-builder";
import type { BatchContent } from "@millrace/actors/core/effects";
import { Projector } from "@millrace/actors/project/projector";
import { pairedPayloads } from "@millrace/actors/scrub/message-shapes";
import { placesToLook } from "@millrace/actors/scrub/scan-text";
import { ingestSettings } from "@millrace/actors/settings";
import { readSettings } from "@millrace/base/config";
import { readEnvelope } from "@millrace/proto/bep/envelope";
import { readKind } from "@millrace/proto/bep/kind";
import { peekRequest } from "@millrace/proto/bes/peek";
import { isMalformed } from "@millrace/proto/wire/field-scanner";
import type { BuildInput } from "./build-input.ts";
import { cpuPerEvent, type StageFigure } from "./cpu-per-event.ts";

const limits = { ...readSettings(ingestSettings, {}), heldDelayMs: 1_000 };

/** The stages in front of the wire to the writers, one by one and then together. */
export async function actorStages(builds: readonly BuildInput[], rounds: number): Promise<StageFigure[]> {
  const requests = builds.flatMap((build) => build.requests);
  const events = builds.flatMap((build) => build.events);
  const payloads = events.map(payloadOf).filter((payload) => payload !== undefined);
  const of = { events: events.length, rounds };
  return [
    await cpuPerEvent("peek at the request", { ...of, run: () => requests.forEach(peekRequest) }),
    await cpuPerEvent("envelope and kind", { ...of, run: () => events.forEach(payloadOf) }),
    await cpuPerEvent("look for secrets", {
      ...of,
      run: () => {
        for (const { bytes, payload } of payloads)
          placesToLook(bytes, { anyMarker: pairedPayloads.has(payload) });
      },
    }),
    await cpuPerEvent("decode, scrub, rows (projector)", { ...of, run: () => builds.forEach(project) }),
    await cpuPerEvent("order, project, batch (actor)", { ...of, run: () => builds.forEach(batchesOf) }),
  ];
}

/** The batches of one build whose writer answers at once. */
export function batchesOf(build: BuildInput): BatchContent[] {
  const actor = new Actor({ firstSequence: 1, limits });
  const batches: BatchContent[] = [];
  for (const [at, bytes] of build.events.entries()) actor.event(at + 1, bytes);
  actor.halfClose();
  for (let effects = actor.takeEffects(); effects.length > 0; effects = actor.takeEffects()) {
    for (const effect of effects) {
      if (effect.kind !== "seal") continue;
      const { batch } = effect;
      batches.push(batch);
      const opened = batch.opens ? { attemptId: 1, attempt: 1, committed: batch.last } : undefined;
      actor.batchAnswered(batch.first, {
        committed: { lastSequence: batch.last, ...(opened && { opened }) },
      });
    }
  }
  return batches;
}

function project(build: BuildInput): void {
  const builder = new BatchBuilder(1, { bytes: 0, lines: 0 });
  const projector = new Projector(undefined, () => builder);
  for (const event of build.events) projector.offer(event);
  projector.releaseHeld();
}

function payloadOf(event: Uint8Array): { bytes: Uint8Array; payload: number } | undefined {
  const envelope = readEnvelope(event);
  if (isMalformed(envelope) || envelope.kind !== "bazel") return undefined;
  const kind = readKind({ bytes: event, from: envelope.payloadStart, to: envelope.payloadEnd });
  return isMalformed(kind) ? undefined : { bytes: event, payload: kind.payload };
}
