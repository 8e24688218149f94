import { mkdirSync } from "node:fs";
import type { Build, Invocation as ServerInvocation } from "@millrace/client/client";
import { progressText } from "../answer/run-answer.ts";
import { BepFile } from "../capture/bep-file.ts";
import { conclude, type Tools } from "../conclude/conclude.ts";
import type { Reduced } from "../reduce/reduced.ts";
import { file } from "../store/layout.ts";
import { directoryMode } from "../store/private-file.ts";
import type { Invocation, State, Termination } from "../store/record.ts";
import type { BuildName, ServerApi } from "./server-api.ts";

const eventBytesMax = 2 ** 30;
const logBytesMax = 256 << 20;

/** What the server's words are here. Its `interrupted` is Bazel's: somebody pressed Ctrl-C. */
export const stateOfStatus: Readonly<Record<Build["status"], State>> = {
  running: "running",
  succeeded: "succeeded",
  failed: "failed",
  interrupted: "cancelled",
  disconnected: "interrupted",
  aborted: "failed",
};

const reasons: Partial<Readonly<Record<Build["status"], string>>> = {
  interrupted: "interrupted where it ran",
  aborted: "the build was aborted",
};

/**
 * Copies a build from the server into the store, as an invocation of its own or over an earlier copy: the same reduction, redaction and views as for
 * what ran here. Files that its events name are not looked for on this machine, however alike the paths are.
 */
export async function copyBuild(
  api: ServerApi,
  of: { build: ServerInvocation; id: string; tools: Tools },
): Promise<Invocation> {
  const { build, id, tools } = of;
  const { store, clock } = tools;
  const name: BuildName = { project: build.project, invocationId: build.invocationId };
  mkdirSync(store.directory(id), { recursive: true, mode: directoryMode });
  const at = { attempt: build.attempt };
  const missing = await api.copyEvents(name, {
    ...at,
    file: store.pathOf(id, file.events),
    bytesMax: eventBytesMax,
  });
  await api.copyLog(name, {
    ...{ ...at, logBytes: build.logBytes, bytesMax: logBytesMax },
    file: store.pathOf(id, file.stderr),
  });
  const bep = new BepFile(store.pathOf(id, file.events));
  await bep.finish();
  const reduced = bep.reducer.reduced();
  const record = recordOf(build, { id, tools, reduced });
  const summary = await conclude(
    {
      ...{ invocation: record, reduced, state: record.state, exitCode: build.exitCode },
      reason: reasons[build.status] ?? build.abortReason ?? "",
      finishedAtMs: record.finished_at_ms ?? clock.now(),
      bepFault: missing !== "" ? missing : build.status === "running" ? "" : bep.fault,
      filesAre: "elsewhere",
    },
    tools,
  );
  const headline = record.state === "running" ? progressOf(record, { reduced, tools }) : summary.headline;
  const final: Invocation = {
    ...record,
    summary: { ...summary, headline },
    metrics: { bep_bytes: bep.bytes, bep_events: reduced.events, raw_output_bytes: build.logBytes },
    payload_bytes: store.countPayload(id),
  };
  await store.create(final);
  return final;
}

function progressOf(record: Invocation, at: { reduced: Reduced; tools: Tools }): string {
  const elapsedMs = at.tools.clock.now() - record.request.requested_at_ms;
  return progressText({ invocation: record, phase: "", elapsedMs, reduced: at.reduced });
}

function recordOf(build: ServerInvocation, at: { id: string; tools: Tools; reduced: Reduced }): Invocation {
  const { redactor, store } = at.tools;
  const canonical = at.reduced.canonicalArguments;
  const finishedAtMs = timeOf(build.finishedAt) ?? timeOf(build.endedAt);
  const isOver = build.status !== "running";
  return {
    request: {
      id: at.id,
      workspace: build.workspaceDirectory ?? "",
      command: build.command ?? "unknown",
      arguments: redactor.arguments(build.patterns),
      timeout_ms: 0,
      requested_at_ms: timeOf(build.createdAt) ?? at.tools.clock.now(),
    },
    owner: store.publisher.id,
    state: stateOfStatus[build.status],
    ...optional("started_at_ms", timeOf(build.startedAt)),
    ...(isOver ? optional("finished_at_ms", finishedAtMs) : {}),
    ...(isOver ? { termination: terminationOf(build) } : {}),
    ...(canonical === undefined ? {} : { canonical_arguments: redactor.arguments(canonical) }),
    payload_bytes: 0,
  };
}

function terminationOf(build: ServerInvocation): Termination {
  if (build.status === "interrupted") return { kind: "cancelled" };
  return build.exitCode === null ? { kind: "interrupted" } : { kind: "exit", code: build.exitCode };
}

function optional<K extends string>(key: K, value: number | undefined): { readonly [P in K]?: number } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [P in K]?: number });
}

/** The API gives no time for what has not happened. */
function timeOf(text: string | null): number | undefined {
  const time = text === null ? Number.NaN : Date.parse(text);
  return Number.isFinite(time) ? time : undefined;
}
