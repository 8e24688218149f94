import type { LiveEvent, Outbox } from "./outbox.ts";

/**
 * One event in the `text/event-stream` format. JSON has no line feeds, so one data line holds it. An empty id is left out: as a
 * field it would make the browser forget the last one.
 */
export function eventFrame(event: LiveEvent): string {
  const id = event.id === "" ? "" : `id: ${event.id}\n`;
  return `event: ${event.name}\n${id}data: ${JSON.stringify(event.data)}\n\n`;
}

/** How long a browser waits before it connects again, in milliseconds. */
const reconnectDelayMs = 1_000;

/**
 * A response body that is pulled: events leave the outbox only when the viewer has read the ones before, so a slow
 * viewer finds the latest state and not a queue. `onEnd` runs once, however it ends.
 */
export function eventStream(outbox: Outbox, onEnd: () => void): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let ended = false;
  const end = (): void => {
    if (ended) return;
    ended = true;
    outbox.close();
    onEnd();
  };
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        controller.enqueue(encoder.encode(`retry: ${reconnectDelayMs}\n\n`));
      },
      pull: async (controller) => {
        const events = await outbox.take();
        if (events === undefined) {
          end();
          controller.close();
          return;
        }
        controller.enqueue(encoder.encode(events.map(eventFrame).join("")));
      },
      cancel: end,
    },
    { highWaterMark: 1 },
  );
}

/** Headers of a live response: never cached, never buffered by a proxy in between. */
export const eventStreamHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
} as const;
