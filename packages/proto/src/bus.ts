import type { PublishChannel, RequestChannel } from "./channels.ts";

/** Ends a subscription: what is being handled is finished, nothing new is taken. */
export interface BusSubscription {
  stop(): Promise<void>;
}

/**
 * NATS as the rest of Millrace sees it: typed messages on declared channels. The simulation has a second
 * implementation that loses, repeats and delays.
 *
 * `request` fails with a `MillraceError` of remedy `retry` when nobody answers in time or nobody serves the
 * subject; the asker decides whether to ask again.
 */
export interface Bus {
  request<Q, A>(
    channel: RequestChannel<Q, A>,
    ask: { subject: string; message: Q; timeoutMs: number },
  ): Promise<A>;
  publish<T>(channel: PublishChannel<T>, say: { subject: string; message: T }): void;
  /** Answers requests; members of one queue group share them. A handler that fails answers nothing. */
  serve<Q, A>(
    channel: RequestChannel<Q, A>,
    at: { subject: string; queue: string },
    handler: (message: Q) => Promise<A>,
  ): BusSubscription;
  subscribe<T>(
    channel: PublishChannel<T>,
    subject: string,
    handler: (message: T, subject: string) => void,
  ): BusSubscription;
  close(): Promise<void>;
}
