import { namedSets } from "@millrace/db/schema/named-sets";
import { targets } from "@millrace/db/schema/targets";
import type { BlockPlace } from "@millrace/proto/bep/named-set-graph";
import { and, asc, eq, inArray } from "drizzle-orm";
import type { Viewer } from "../viewer.ts";
import { type Orm, read } from "./read.ts";
import { ofVisibleAttempt } from "./visible.ts";

/** Where the blocks of an attempt's named sets lie, in order; their data are not read. */
export function listNamedSetBlocks(orm: Orm, viewer: Viewer, attemptId: number): Promise<BlockPlace[]> {
  const { firstSeq, part, firstId, lastId } = namedSets;
  return read("the named sets", () =>
    orm
      .select({ firstSeq, part, firstId, lastId })
      .from(namedSets)
      .where(ofVisibleAttempt(viewer, namedSets.attemptId, attemptId))
      .orderBy(asc(firstSeq), asc(part)),
  );
}

/** The compressed frames of blocks, in the order asked for; one that is gone is empty. */
export async function readNamedSetBlocks(
  orm: Orm,
  viewer: Viewer,
  of: { attemptId: number; places: readonly BlockPlace[] },
): Promise<(Uint8Array | undefined)[]> {
  const { firstSeq, part, data } = namedSets;
  const rows = await read("the named sets", () =>
    orm
      .select({ firstSeq, part, data })
      .from(namedSets)
      .where(
        and(
          ofVisibleAttempt(viewer, namedSets.attemptId, of.attemptId),
          inArray(
            firstSeq,
            of.places.map((place) => place.firstSeq),
          ),
        ),
      ),
  );
  return of.places.map(
    (place) => rows.find((row) => row.firstSeq === place.firstSeq && row.part === place.part)?.data,
  );
}

/** Which event has the outputs of one target; undefined when there is no such target. */
export async function readOutputsSequence(
  orm: Orm,
  viewer: Viewer,
  of: { attemptId: number; label: string; aspect: string; configuration: string },
): Promise<{ sequence: number | null } | undefined> {
  const [row] = await read("the outputs", () =>
    orm
      .select({ sequence: targets.outputsSequence })
      .from(targets)
      .where(
        and(
          ofVisibleAttempt(viewer, targets.attemptId, of.attemptId),
          eq(targets.label, of.label),
          eq(targets.aspect, of.aspect),
          eq(targets.configuration, of.configuration),
        ),
      ),
  );
  return row;
}
