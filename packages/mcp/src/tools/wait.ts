import type { Encoded } from "../answer/encode.ts";
import { finishedAnswer, type Progress, progressText, runningAnswer } from "../answer/run-answer.ts";
import { textCommands } from "../conclude/conclude.ts";
import { tailOf } from "../conclude/scan-log.ts";
import type { Run } from "../run/run.ts";
import { file } from "../store/layout.ts";
import type { Invocation } from "../store/record.ts";
import { viewsOf } from "../views/availability.ts";
import type { Call, ToolContext } from "./context.ts";

/** Clients give up after a minute of silence; this keeps well below. */
const progressFirstMs = 5_000;
const progressPeriodMs = 10_000;

/** How far a run of this process is, with the events that have come so far. */
export async function progressOf(run: Run, context: ToolContext): Promise<Progress> {
  await run.capture.advance();
  const { invocation } = run;
  const since = invocation.started_at_ms ?? invocation.request.requested_at_ms;
  return {
    invocation,
    phase: run.phase,
    elapsedMs: Math.max(0, context.clock.now() - since),
    reduced: run.capture.reducer.reduced(),
  };
}

/** Waits for the end of a run, at most `waitMs`; undefined when it is not over by then. */
export async function waitFor(
  run: Run,
  at: { waitMs: number | undefined; call: Call; context: ToolContext },
): Promise<Invocation | undefined> {
  const { clock, store } = at.context;
  const waits: Promise<Invocation | undefined>[] = [run.done];
  const cancels: (() => void)[] = [];
  if (at.waitMs !== undefined) {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    cancels.push(clock.after(at.waitMs, () => resolve(undefined)));
    waits.push(promise);
  }
  const { reportProgress } = at.call;
  if (reportProgress !== undefined) {
    const report = (): void => {
      void progressOf(run, at.context).then((progress) => {
        reportProgress(progressText(progress));
        store.count(run.spec.id, "progress_notifications", 1);
      });
      cancels[1] = clock.after(progressPeriodMs, report);
    };
    cancels[1] = clock.after(progressFirstMs, report);
  }
  try {
    return await Promise.race(waits);
  } finally {
    for (const cancel of cancels) cancel?.();
  }
}

/** The answer to a run: final, or how far it is. Its bytes are counted for the invocation. */
export async function answerFor(
  run: Run,
  at: { invocation: Invocation | undefined; context: ToolContext },
): Promise<Encoded> {
  const { context } = at;
  const { encoding, store } = context;
  const answer =
    at.invocation === undefined
      ? runningAnswer(await progressOf(run, context), encoding)
      : finishedAnswer(at.invocation, {
          encoding,
          views: availableNames(at.invocation, context),
          output: shortOutput(at.invocation, context),
        });
  store.count(run.spec.id, "model_visible_bytes", answer.bytes);
  return answer;
}

function availableNames(invocation: Invocation, context: ToolContext): string[] {
  return Object.entries(viewsOf(invocation, context.store))
    .filter(([, state]) => state === "available")
    .map(([name]) => name);
}

const shortOutputBytes = 1000;

/** What an informational command printed, when it is short enough to be the answer. */
function shortOutput(invocation: Invocation, context: ToolContext): string {
  const { command, id } = invocation.request;
  if (!textCommands.has(command) || invocation.state !== "succeeded") return "";
  const text = tailOf(context.store.pathOf(id, file.stdout), shortOutputBytes + 1);
  return text.length > shortOutputBytes ? "" : context.redactor.text(text.trimEnd());
}
