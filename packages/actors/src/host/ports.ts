import type { Clock } from "@millrace/base/clock";
import type { Log } from "@millrace/base/log";
import type { Random } from "@millrace/base/random";
import type { Zstd } from "@millrace/base/zstd";
import type { BlobStore } from "@millrace/blobs/blob-store";
import type { Bus } from "@millrace/proto/bus";
import type { LargeProjection, ProjectedLarge } from "../core/effects.ts";
import type { IngestFailPoints } from "../fail-point-names.ts";
import type { FromThread } from "../thread-messages.ts";

/** Everything that a thread host needs of the world; the simulation hands in faulty ones. */
export interface HostPorts {
  readonly bus: Bus;
  readonly clock: Clock;
  readonly random: Random;
  readonly zstd: Zstd;
  readonly blobs: Pick<BlobStore, "put">;
  readonly log: Log;
  /** Projects an event above 1 MB off this thread; the host lets at most two through at once. */
  readonly projectLarge: (large: LargeProjection) => Promise<ProjectedLarge>;
  /** To the front door. Buffers in the message may be transferred. */
  readonly post: (message: FromThread) => void;
  readonly points: IngestFailPoints;
  /** Runs `action` after what is already waiting in this tick. */
  readonly soon: (action: () => void) => void;
}
