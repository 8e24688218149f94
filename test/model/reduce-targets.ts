import type { BepEvent } from "./decode.ts";
import { type ExpectedTarget, type TargetStatus, targetRanks } from "./expected-build.ts";
import { abortReasonName, textOrNothing } from "./schema-values.ts";

type Key = Pick<ExpectedTarget, "label" | "aspect" | "configuration">;
type Outcome = Pick<ExpectedTarget, "status" | "failureMessage" | "abortReason" | "completedAtMs">;
type Description = Pick<ExpectedTarget, "targetKind" | "testSize" | "tags">;

/** Targets by label, aspect and configuration, merged in the order of their events. */
export class TargetReducer {
  private readonly targets = new Map<string, ExpectedTarget>();

  add(event: BepEvent, timeMs: number): void {
    if (event.configured && event.id?.targetConfigured) this.addConfigured(event);
    else if (event.completed && event.id?.targetCompleted) this.addCompleted(event, timeMs);
    else if (event.aborted) this.addAborted(event, timeMs);
  }

  rows(): ExpectedTarget[] {
    return [...this.targets.keys()].sort().flatMap((key) => this.targets.get(key) ?? []);
  }

  /** The id of a configured target lacks the configuration: the completion it announces has it. */
  private addConfigured({ id, children, configured }: BepEvent): void {
    const announced = (children ?? []).flatMap(({ targetCompleted }) =>
      targetCompleted ? [targetCompleted.configuration?.id ?? ""] : [],
    );
    const description = {
      targetKind: textOrNothing(configured?.targetKind),
      testSize: configured?.testSize || undefined,
      tags: configured?.tag ?? [],
    };
    for (const configuration of announced.length > 0 ? new Set(announced) : [""]) {
      const key = {
        label: id?.targetConfigured?.label ?? "",
        aspect: canonicalAspect(id?.targetConfigured?.aspect),
        configuration,
      };
      this.merge(key, outcome("configured", {}), description);
    }
  }

  private addCompleted({ id, completed }: BepEvent, completedAtMs: number): void {
    const failureMessage = textOrNothing(completed?.failureDetail?.message);
    const status = completed?.success ? "built" : "failed";
    this.merge(keyOfCompleted(id), outcome(status, { failureMessage, completedAtMs }), {
      targetKind: textOrNothing(completed?.targetKind),
      testSize: completed?.testSize || undefined,
      tags: completed?.tag ?? [],
    });
  }

  /** Of the aborted, only announced targets are rows; labels that merely failed to load are not targets of the build. */
  private addAborted({ id, aborted }: BepEvent, completedAtMs: number): void {
    if (!id?.targetCompleted && !id?.targetConfigured) return;
    const abortReason = abortReasonName(aborted?.reason ?? 0);
    const failureMessage = textOrNothing(aborted?.description);
    const key = id.targetCompleted
      ? keyOfCompleted(id)
      : {
          label: id.targetConfigured?.label ?? "",
          aspect: canonicalAspect(id.targetConfigured?.aspect),
          configuration: "",
        };
    const status = statusOfAbort(abortReason);
    this.merge(key, outcome(status, { failureMessage, abortReason, completedAtMs }), {
      targetKind: undefined,
      testSize: undefined,
      tags: [],
    });
  }

  private merge(key: Key, next: Outcome, description: Description): void {
    const text = JSON.stringify([key.label, key.aspect, key.configuration]);
    const before = this.targets.get(text);
    this.targets.set(text, {
      ...key,
      targetKind: description.targetKind ?? before?.targetKind,
      testSize: description.testSize ?? before?.testSize,
      tags: description.tags.length > 0 ? description.tags : (before?.tags ?? []),
      ...(before === undefined ? next : mergeOutcomes(before, next)),
    });
  }
}

/** A higher rank replaces the outcome wholly, an equal one fills it up, a lower one changes nothing. */
function mergeOutcomes(before: Outcome, next: Outcome): Outcome {
  const rise = targetRanks.indexOf(next.status) - targetRanks.indexOf(before.status);
  if (rise > 0) return next;
  const kept = outcome(before.status, before);
  if (rise < 0) return kept;
  return {
    status: kept.status,
    failureMessage: next.failureMessage ?? kept.failureMessage,
    abortReason: next.abortReason ?? kept.abortReason,
    completedAtMs: next.completedAtMs ?? kept.completedAtMs,
  };
}

function outcome(status: TargetStatus, of: Partial<Omit<Outcome, "status">>): Outcome {
  const { failureMessage, abortReason, completedAtMs } = of;
  return { status, failureMessage, abortReason, completedAtMs };
}

function statusOfAbort(reason: string): TargetStatus {
  if (reason === "SKIPPED") return "skipped";
  return reason === "NO_BUILD" || reason === "NO_ANALYZE" ? "not-built" : "aborted";
}

function keyOfCompleted(id: BepEvent["id"]): Key {
  return {
    label: id?.targetCompleted?.label ?? "",
    aspect: canonicalAspect(id?.targetCompleted?.aspect),
    configuration: id?.targetCompleted?.configuration?.id ?? "",
  };
}

/** The main repository can be written `@@//`, `@//` and `//` in the events of one build (bazelbuild/bazel#14266). */
function canonicalAspect(aspect: string | null | undefined): string {
  return (aspect ?? "").replace(/^@{1,2}\/\//, "//");
}
