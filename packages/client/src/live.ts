import { createParser } from "eventsource-parser";
import type { ClientSettings } from "./client.ts";
import { problemFrom } from "./client.ts";

/** A server-sent event; `data` is its JSON. */
export interface LiveEvent {
  readonly name: string;
  readonly data: unknown;
}

export interface Following {
  /** Path below the origin, such as `/api/v1/projects/default/live`. */
  readonly path: string;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Waits; resolves early when the signal says so. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly onEvent: (event: LiveEvent) => void;
  /** `open` when events flow; `away` when the connection broke and is tried again. */
  readonly onState?: (state: "open" | "away") => void;
}

const firstDelayMs = 500;
const delayMsMax = 15_000;

/**
 * Follows a live route until its signal: connects again after each break, by `Last-Event-ID` from where it was. Fails with an
 * `ApiProblem` only when the server says that there is nothing to follow (400, 401, 403, 404).
 */
export async function followEvents(settings: ClientSettings, following: Following): Promise<void> {
  let lastId = "";
  let delayMs = firstDelayMs;
  while (!following.signal.aborted) {
    try {
      const body = await openStream(settings, { following, lastId });
      following.onState?.("open");
      await readStream(body, (event) => {
        delayMs = firstDelayMs;
        if (event.id !== undefined) lastId = event.id;
        following.onEvent({ name: event.event ?? "message", data: JSON.parse(event.data) });
      });
    } catch (error) {
      if (following.signal.aborted) return;
      if (error instanceof Refused) throw error.problem;
      // The network or the server went away: try again.
    }
    if (following.signal.aborted) return;
    following.onState?.("away");
    await following.pause(delayMs, following.signal);
    delayMs = Math.min(delayMs * 2, delayMsMax);
  }
}

/** Carries an answer that will not change through the retry. */
class Refused extends Error {
  readonly problem: Error;
  constructor(problem: Error) {
    super(problem.message);
    this.problem = problem;
  }
}

async function openStream(
  settings: ClientSettings,
  on: { following: Following; lastId: string },
): Promise<ReadableStream<Uint8Array>> {
  const { following, lastId } = on;
  const response = await (settings.fetch ?? fetch)(settings.origin + following.path, {
    signal: following.signal,
    cache: "no-store",
    headers: {
      ...settings.headers,
      accept: "text/event-stream",
      ...(lastId === "" ? {} : { "last-event-id": lastId }),
    },
  });
  if (response.ok && response.body !== null) return response.body;
  const problem = problemFrom(await response.json().catch(() => undefined), response.status);
  if (response.status >= 400 && response.status < 500) throw new Refused(problem);
  throw problem;
}

async function readStream(
  body: ReadableStream<Uint8Array>,
  onEvent: (event: { event?: string | undefined; id?: string | undefined; data: string }) => void,
): Promise<void> {
  const parser = createParser({ onEvent });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    parser.feed(decoder.decode(value, { stream: true }));
  }
}
