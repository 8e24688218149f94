import { MillraceError } from "@millrace/base/errors";
import { z } from "zod";
import type { Build, ValidationRequest } from "./entities.ts";
import { deadGroupOf, deadTopicOf, type NewMessage, originOf } from "./queue/message.ts";

/** The stages behind ingest; each reads the topic of its name. */
export const stages = ["process", "build", "buildsignal", "record"] as const;
export type Stage = (typeof stages)[number];

export function groupOf(stage: Stage): string {
  return `millrace-${stage}`;
}

/** The groups that get what is published on a topic. */
export function groupsOf(topic: string): readonly string[] {
  const stage = stages.find((one) => one === (originOf(topic) ?? topic));
  if (stage === undefined) throw malformed(`there is no topic ${topic}`);
  return [topic === deadTopicOf(stage) ? deadGroupOf(groupOf(stage)) : groupOf(stage)];
}

/** Every message: what it is about, and its queue (which may be empty). Unknown fields are ignored. */
const payloadShape = z.object({ id: z.string().min(1), queue_name: z.string().default("") });

export interface Payload {
  readonly id: string;
  readonly queue: string;
}

/** Fails, not to be retried, for what is no payload. */
export function decodePayload(payload: unknown): Payload {
  const parsed = payloadShape.safeParse(payload);
  if (!parsed.success) throw malformed(`not a payload: ${parsed.error.issues[0]?.message ?? ""}`);
  return { id: parsed.data.id, queue: parsed.data.queue_name };
}

function malformed(message: string): MillraceError {
  return new MillraceError({ remedy: "reject", code: "malformed-message", message });
}

/** The partition is the queue: a newer head waits behind an older one's hold. */
export function processMessage(request: ValidationRequest): NewMessage {
  return { ...aboutRequest("process", request), key: request.queue };
}

export function buildMessage(request: ValidationRequest): NewMessage {
  return aboutRequest("build", request);
}

export function buildsignalMessage(build: Build): NewMessage {
  return {
    topic: "buildsignal",
    id: build.id,
    key: build.id,
    payload: { id: build.id, queue_name: build.queue },
  };
}

export function recordMessage(request: ValidationRequest): NewMessage {
  return aboutRequest("record", request);
}

function aboutRequest(stage: Stage, request: ValidationRequest): NewMessage {
  return {
    topic: stage,
    id: request.id,
    key: request.id,
    payload: { id: request.id, queue_name: request.queue },
  };
}
