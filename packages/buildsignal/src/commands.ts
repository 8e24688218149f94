import { ConfigError } from "@millrace/base/config";
import { errorText, MillraceError } from "@millrace/base/errors";
import type { SignalAnswer, SignalCommand } from "@millrace/proto/channels";
import { cancelRequest } from "./controllers/cancel-request.ts";
import type { StageContext } from "./controllers/context.ts";
import { ingest } from "./controllers/ingest.ts";
import type { GateStore } from "./gate-store.ts";
import type { LetterStore } from "./letter-store.ts";
import type { LiveQueues } from "./live-queues.ts";
import type { ConfigPut, ConfigRemoval, QueueConfigStore } from "./queue-config-store.ts";
import { stages } from "./topics.ts";

/** A command may wait so long for the outside. */
const commandMsMax = 30_000;

/** What commands are done with. */
export interface CommandParts {
  readonly context: StageContext;
  readonly letters: LetterStore;
  readonly gates: GateStore;
  readonly configs: QueueConfigStore;
  readonly queues: Pick<LiveQueues, "check" | "lookFor">;
  /** Queues have changed: this process and the others read them again. */
  onConfigured(): void;
}

type CommandOf<K extends SignalCommand["kind"]> = Extract<SignalCommand, { kind: K }>;

/**
 * Does what the API or an operator asks for. All commands may be repeated. A refusal is an answer; a failure that may
 * pass by itself is none, so that the caller asks again.
 */
export async function runCommand(command: SignalCommand, parts: CommandParts): Promise<SignalAnswer> {
  try {
    return await run(command, parts);
  } catch (error) {
    if (error instanceof ConfigError) return refused("invalid-configuration", error.problems.join("; "));
    if (!(error instanceof MillraceError) || error.remedy === "retry") throw error;
    return refused(error.code, errorText(error));
  }
}

async function run(command: SignalCommand, parts: CommandParts): Promise<SignalAnswer> {
  switch (command.kind) {
    case "ingest":
      await isQueue(command.queue, parts);
      return await runOnRequest(command, parts.context);
    case "cancel":
      return await runOnRequest(command, parts.context);
    case "redrive":
    case "discard": {
      const wasThere = await parts.letters.settle(command.letter, command.kind);
      if (wasThere) return { kind: "ok" };
      const { letter } = command;
      const name = "id" in letter ? String(letter.id) : `${letter.messageId} of ${letter.topic}`;
      return refused("not-found", `there is no dead letter ${name}`);
    }
    case "configure":
      return await configure(command, parts);
    case "unconfigure": {
      const removal = await parts.configs.remove(command.queue);
      if (removal === "removed") parts.onConfigured();
      return answerOfRemoval(removal, command.queue);
    }
    case "close-gate":
    case "open-gate":
      return await moveGate(command, parts);
    default:
      return refused("unknown-command", "this controller does not know that command: it is older than you");
  }
}

/** Whether there is such a queue; another process may just have configured it. */
async function isQueue(name: string, { context, queues }: CommandParts): Promise<boolean> {
  if (!context.queues.has(name)) await queues.lookFor(name);
  return context.queues.has(name);
}

async function runOnRequest(
  command: CommandOf<"ingest" | "cancel">,
  context: StageContext,
): Promise<SignalAnswer> {
  const abort = new AbortController();
  const cancelTimer = context.clock.after(commandMsMax, () => abort.abort());
  try {
    const { id, state } =
      command.kind === "ingest"
        ? await ingest({ ...context, who: "ingest" }, command, abort.signal)
        : await cancelRequest({ ...context, who: "operator" }, command.requestId, abort.signal);
    return { kind: "ok", requestId: id, state };
  } finally {
    cancelTimer();
  }
}

async function configure(command: CommandOf<"configure">, parts: CommandParts): Promise<SignalAnswer> {
  const { queue, config, version } = command;
  const { project } = parts.queues.check(queue, config);
  const put = await parts.configs.put({ name: queue, project, config, version });
  if (put.kind === "stored") parts.onConfigured();
  return answerOfPut(put, queue);
}

function answerOfPut(put: ConfigPut, queue: string): SignalAnswer {
  switch (put.kind) {
    case "stored":
      return { kind: "ok", version: put.version };
    case "conflict":
      return refused("version-mismatch", `the queue ${queue} is at version ${put.version} by now`);
    case "of-file":
      return refused("of-file", ofFile(queue));
    case "other-project":
      return refused("other-project", `the queue ${queue} belongs to the project ${put.project} for good`);
  }
}

function answerOfRemoval(removal: ConfigRemoval, queue: string): SignalAnswer {
  switch (removal) {
    case "removed":
      return { kind: "ok" };
    case "missing":
      return refused("not-found", `no queue ${queue} is configured`);
    case "of-file":
      return refused("of-file", ofFile(queue));
    case "busy":
      return refused("busy", `the queue ${queue} has requests under way: cancel them or wait for them`);
  }
}

async function moveGate(
  command: CommandOf<"close-gate" | "open-gate">,
  parts: CommandParts,
): Promise<SignalAnswer> {
  const stage = stages.find((one) => one === command.stage);
  if (stage === undefined) {
    return refused("invalid", `there is no stage ${command.stage}; there are ${stages.join(", ")}`);
  }
  const gate = { stage, key: command.key };
  if (command.kind === "close-gate") {
    if (stage === "process" && gate.key !== "" && !(await isQueue(gate.key, parts))) {
      return refused("unknown-queue", `the queue ${JSON.stringify(gate.key)} is not configured`);
    }
    await parts.gates.close(gate, command.reason ?? "");
    return { kind: "ok" };
  }
  if (await parts.gates.open(gate)) return { kind: "ok" };
  return refused("not-found", `the gate before ${command.key || "all"} of ${stage} is not closed`);
}

function ofFile(queue: string): string {
  return `the queue ${queue} stands in the controller's file and is changed there`;
}

function refused(code: string, message: string): SignalAnswer {
  return { kind: "refused", code, message };
}
