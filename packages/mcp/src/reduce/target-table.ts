import { abortReason, protocolName } from "@millrace/proto/bep/enums";
import type { EventId } from "@millrace/proto/bep/event-id";
import type { TargetRecord } from "./reduced.ts";

/** Targets of one invocation by label, configuration and aspect, as many as there is room for. */
export class TargetTable {
  private readonly targets = new Map<string, TargetRecord>();
  private readonly countMax: number;
  /** A target found no room. */
  isTruncated = false;

  constructor(countMax: number) {
    this.countMax = countMax;
  }

  all(): IterableIterator<TargetRecord> {
    return this.targets.values();
  }

  /** The record of a target, made when it is new and there is room. */
  at(id: EventId): TargetRecord | undefined {
    const key = `${id.label}\u0000${id.configuration}\u0000${id.aspect}`;
    const known = this.targets.get(key);
    if (known !== undefined) return known;
    if (this.targets.size >= this.countMax) {
      this.isTruncated = true;
      return undefined;
    }
    const { label, configuration, aspect } = id;
    const made: TargetRecord = {
      ...{ label, configuration, aspect, success: false },
      ...{ aborted: "", failureMessage: "", outputs: undefined },
    };
    this.targets.set(key, made);
    return made;
  }

  /** It has no result but this. The first abort names the reason. */
  abort(id: EventId, reason: number): void {
    const target = this.at(id);
    if (target === undefined || target.aborted !== "") return;
    target.aborted = protocolName(abortReason, reason).toLowerCase();
  }
}
