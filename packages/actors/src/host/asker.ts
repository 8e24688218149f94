import type { Clock } from "@millrace/base/clock";
import { MillraceError } from "@millrace/base/errors";
import { type Random, withJitter } from "@millrace/base/random";
import type { Bus } from "@millrace/proto/bus";
import type { RequestChannel } from "@millrace/proto/channels";

/** Longest wait for one answer. A writer's own timeouts are 5 s; asking again is harmless by the fence. */
const answerTimeoutMs = 6_000;
const retryDelayMinMs = 25;
const retryDelayMaxMs = 1_000;

/** An asking that can be called off. */
export interface Asking {
  /** Nobody waits for the answer any more. */
  abandon(): void;
}

/**
 * Asks until there is an answer. `onAnswer` is called at most once, and not after `abandon`. When nobody has
 * answered for `giveUpAfterMs`, `onTooLong` is called once instead.
 */
export function askUntilAnswered<Q, A>(
  ports: { bus: Bus; clock: Clock; random: Random },
  ask: {
    channel: RequestChannel<Q, A>;
    subject: string;
    message: Q;
    giveUpAfterMs: number;
    onAnswer: (answer: A) => void;
    onTooLong: () => void;
  },
): Asking {
  const deadline = ports.clock.monotonic() + ask.giveUpAfterMs;
  let isAbandoned = false;
  let cancelRetry = (): void => {};

  const attempt = async (delayMs: number): Promise<void> => {
    let answer: A;
    try {
      answer = await ports.bus.request(ask.channel, {
        subject: ask.subject,
        message: ask.message,
        timeoutMs: answerTimeoutMs,
      });
    } catch (error) {
      if (!(error instanceof MillraceError) || error.remedy !== "retry") throw error;
      return retryLater(delayMs);
    }
    if (!isAbandoned) ask.onAnswer(answer);
  };
  const retryLater = (delayMs: number): void => {
    if (isAbandoned) return;
    if (ports.clock.monotonic() >= deadline) {
      isAbandoned = true;
      return ask.onTooLong();
    }
    cancelRetry = ports.clock.after(withJitter(ports.random, delayMs), () => {
      void attempt(Math.min(delayMs * 2, retryDelayMaxMs));
    });
  };
  void attempt(retryDelayMinMs);
  return {
    abandon: () => {
      isAbandoned = true;
      cancelRetry();
    },
  };
}
