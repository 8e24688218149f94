import type { Metadata, ServerUnaryCall, sendUnaryData } from "@grpc/grpc-js";
import type { Clock } from "@millrace/base/clock";
import {
  type LifecycleKind as Kind,
  type LifecycleEvent,
  readLifecycle,
} from "@millrace/proto/bes/lifecycle";
import type { Bus } from "@millrace/proto/bus";
import { LifecycleKind } from "@millrace/proto/pipeline";
import { endStatus } from "../thread-messages.ts";
import { apiKeyOf, statusText } from "./grpc-call.ts";
import type { KeyDesk } from "./key-desk.ts";
import { LifecycleGroups } from "./lifecycle-groups.ts";

/** Bazel gives a call 15 s and the whole upload up after five failures, so nobody is waited for longer. */
const answerWithinMs = 2_000;

const kinds: Readonly<Record<Kind, number>> = {
  "build-enqueued": LifecycleKind.BUILD_ENQUEUED,
  "attempt-started": LifecycleKind.INVOCATION_ATTEMPT_STARTED,
  "attempt-finished": LifecycleKind.INVOCATION_ATTEMPT_FINISHED,
  "build-finished": LifecycleKind.BUILD_FINISHED,
  other: LifecycleKind.KIND_UNSPECIFIED,
};

export interface LifecyclePorts {
  readonly bus: Pick<Bus, "request">;
  readonly keys: KeyDesk;
  readonly clock: Clock;
}

/**
 * PublishLifecycleEvent: passes what it says on to the writers. The stream alone tells all of a build, so the call
 * succeeds whether somebody answers or not; it fails only for a wrong key and for what is no such request, which
 * ends Bazel's upload at once.
 */
export class LifecycleCalls {
  readonly counters = { recorded: 0, unanswered: 0, refused: 0 };
  private readonly keys: KeyDesk;
  private readonly groups: LifecycleGroups;

  constructor(ports: LifecyclePorts) {
    this.keys = ports.keys;
    this.groups = new LifecycleGroups(ports, answerWithinMs);
  }

  /** The handler of the unary call; requests and responses are bytes. */
  readonly handle = (call: ServerUnaryCall<Buffer, Buffer>, respond: sendUnaryData<Buffer>): void => {
    void this.answer(call.request, call.metadata).then((problem) => {
      if (problem === undefined) return respond(null, Buffer.alloc(0));
      this.counters.refused += 1;
      respond({ code: problem.status, details: statusText(problem.message) });
    });
  };

  private async answer(
    request: Buffer,
    metadata: Metadata,
  ): Promise<{ status: number; message: string } | undefined> {
    const event = readLifecycle(request);
    if (event.kind === "malformed") {
      const message = `this is not a PublishLifecycleEventRequest: ${event.reason}`;
      return { status: endStatus.invalidArgument, message };
    }
    const outcome = await this.keys.resolve(apiKeyOf(metadata), {
      holdMs: answerWithinMs,
      isGone: () => false,
    });
    if (outcome.kind === "refused") {
      return { status: endStatus.failedPrecondition, message: outcome.message };
    }
    if (outcome.kind === "unanswered") this.counters.unanswered += 1;
    else await this.record(outcome.grant.project, event);
    return undefined;
  }

  private async record(project: string, event: LifecycleEvent): Promise<void> {
    const { buildId, invocationId, component } = event.streamId;
    const isStored = await this.groups.record({
      project,
      buildId,
      invocationId,
      component,
      sequence: event.sequence,
      kind: kinds[event.kind],
      eventTimeMs: event.eventTimeMs ?? 0,
      result: event.result ?? 0,
      attemptNumber: event.attemptNumber ?? 0,
    });
    // Nothing is lost that the stream does not say again.
    if (isStored) this.counters.recorded += 1;
    else this.counters.unanswered += 1;
  }
}
