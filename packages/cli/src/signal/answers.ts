import { z } from "zod";

const text = z.string().nullable();

/** What the API says, as far as it is printed. */
export const queueAnswer = z.object({
  name: z.string(),
  project: z.string(),
  runner: text,
  maxConcurrent: z.number().nullable(),
  slots: z.array(z.object({ requestId: z.string(), number: z.number().nullable() })),
  waiting: z.number(),
  inProgress: z.number(),
  openLetters: z.number(),
  lastGreenUri: text,
  stopped: z.object({ since: z.string(), reason: z.string() }).nullable(),
});
export type QueueAnswer = z.infer<typeof queueAnswer>;

const buildAnswer = z.object({ id: z.string(), status: z.string(), url: text, deadlineAt: z.string() });

export const requestAnswer = z.object({
  id: z.string(),
  number: z.number(),
  uri: z.string(),
  state: z.string(),
  reason: text,
  verdict: text,
  createdAt: z.string(),
  endedAt: text,
  build: buildAnswer.nullable(),
});
export type RequestAnswer = z.infer<typeof requestAnswer>;

export const historyAnswer = requestAnswer.extend({
  strategy: z.string(),
  baseUri: text,
  builds: z.array(buildAnswer),
  log: z.array(z.object({ at: z.string(), who: z.string(), from: z.string(), to: z.string(), reason: text })),
});
export type HistoryAnswer = z.infer<typeof historyAnswer>;

export const letterAnswer = z.object({
  id: z.number(),
  stage: z.string(),
  queue: text,
  messageId: z.string(),
  state: z.string(),
  occurrences: z.number(),
  lastReason: z.string(),
  lastFailedAt: z.string(),
});
export type LetterAnswer = z.infer<typeof letterAnswer>;
