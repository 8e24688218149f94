import { systemClock } from "@millrace/base/clock";
import { MillraceError } from "@millrace/base/errors";
import { type SignalAnswer, type SignalCommand, signalCommandChannel } from "@millrace/proto/channels";
import type { z } from "zod";
import { getFromApi } from "../api-client.ts";
import { settingFlag, switchFlag } from "../command-line/flag.ts";
import type { Terminal } from "../command-line/terminal.ts";
import { connectOrFail, logTo } from "../nats.ts";
import { cliSettings } from "../settings.ts";
import { whereFlags, whereNats, whereServer } from "../whereabouts.ts";

/** Flags of what reads. */
export const readFlags = {
  json: switchFlag("Prints what the API answers."),
  server: whereFlags.server,
  apiKey: settingFlag(cliSettings.apiKey, { placeholder: "KEY" }),
  dataDir: whereFlags.dataDir,
};

/** Flags of what changes something. */
export const sendFlags = { natsUrl: whereFlags.natsUrl, dataDir: whereFlags.dataDir };

interface ReadAsked {
  readonly server: string;
  readonly apiKey: string;
  readonly dataDir: string;
}

/** A controller may ask the outside, which takes it up to 30 s. */
const answerMsMax = 35_000;

/** What the API answers on a path below `/api/v1`, as it came and as it was expected. */
export async function readAnswer<T>(
  flags: ReadAsked,
  what: { path: string; shape: z.ZodType<T> },
): Promise<{ given: unknown; read: T }> {
  const response = await getFromApi(whereServer(flags), { path: what.path, apiKey: flags.apiKey });
  const given: unknown = await response.json();
  const parsed = what.shape.safeParse(given);
  if (parsed.success) return { given, read: parsed.data };
  const message = "The API answers what this command does not know: is it of another version?";
  throw new MillraceError({ remedy: "reject", code: "unknown-answer", message });
}

/** Has a controller do something. A refusal is a `MillraceError` with the controller's words. */
export async function sendCommand(
  flags: { natsUrl: string; dataDir: string },
  by: { command: SignalCommand; terminal: Terminal },
): Promise<Extract<SignalAnswer, { kind: "ok" }>> {
  const bus = await connectOrFail(whereNats(flags), { log: logTo(by.terminal), clock: systemClock });
  try {
    const ask = { subject: signalCommandChannel.name, message: by.command, timeoutMs: answerMsMax };
    const answer = await bus.request(signalCommandChannel, ask).catch((cause: unknown) => {
      throw noController(cause);
    });
    if (answer.kind === "ok") return answer;
    throw new MillraceError({ remedy: "reject", code: answer.code, message: `${answer.message}.` });
  } finally {
    await bus.close();
  }
}

function noController(cause: unknown): MillraceError {
  const message =
    "No build-signal controller answers. It runs where MILLRACE_SIGNAL_CONFIG names its file of queues; " +
    "one that cannot reach its database answers nothing.";
  return new MillraceError({ remedy: "retry", code: "no-controller", message, cause });
}

/** `QUEUE/7` or `request/QUEUE/7`. */
export function requestOf(operand: string): { queue: string; number: number; id: string } {
  const [, queue = "", digits = ""] = /^(?:request\/)?([A-Za-z0-9_-]+)\/([1-9]\d{0,15})$/.exec(operand) ?? [];
  if (queue !== "") return { queue, number: Number(digits), id: `request/${queue}/${digits}` };
  const message = `${JSON.stringify(operand)} names no request: write QUEUE/NUMBER.`;
  throw new MillraceError({ remedy: "reject", code: "not-a-request", message });
}
