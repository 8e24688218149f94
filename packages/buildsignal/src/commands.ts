import { errorText, MillraceError } from "@millrace/base/errors";
import type { SignalAnswer, SignalCommand } from "@millrace/proto/channels";
import { cancelRequest } from "./controllers/cancel-request.ts";
import type { StageContext } from "./controllers/context.ts";
import { ingest } from "./controllers/ingest.ts";
import type { LetterStore } from "./letter-store.ts";

/** A command may wait so long for the outside. */
const commandMsMax = 30_000;

/**
 * Does what the API or an operator asks for. All commands may be repeated. A refusal is an answer; a failure that may
 * pass by itself is none, so that the caller asks again.
 */
export async function runCommand(
  command: SignalCommand,
  by: { context: StageContext; letters: LetterStore },
): Promise<SignalAnswer> {
  try {
    return await run(command, by);
  } catch (error) {
    if (!(error instanceof MillraceError) || error.remedy === "retry") throw error;
    return { kind: "refused", code: error.code, message: errorText(error) };
  }
}

async function run(
  command: SignalCommand,
  by: { context: StageContext; letters: LetterStore },
): Promise<SignalAnswer> {
  const { context, letters } = by;
  const abort = new AbortController();
  const cancelTimer = context.clock.after(commandMsMax, () => abort.abort());
  try {
    switch (command.kind) {
      case "ingest": {
        const { id, state } = await ingest({ ...context, who: "ingest" }, command, abort.signal);
        return { kind: "ok", requestId: id, state };
      }
      case "cancel": {
        const { id, state } = await cancelRequest(
          { ...context, who: "operator" },
          command.requestId,
          abort.signal,
        );
        return { kind: "ok", requestId: id, state };
      }
      case "redrive":
      case "discard": {
        const wasThere = await letters.settle(command.letter, command.kind);
        if (wasThere) return { kind: "ok" };
        const message = `there is no dead letter ${command.letter.messageId} of ${command.letter.topic}`;
        return { kind: "refused", code: "not-found", message };
      }
    }
  } finally {
    cancelTimer();
  }
}
