import { type CallStatus, statusCode } from "./bes-channel.ts";

/** Exit codes of a failed upload. */
export const transientExitCode = 38;
export const persistentExitCode = 45;

/** Why an upload is over, and what Bazel exits with. */
export interface UploadFailure {
  readonly exitCode: number;
  readonly message: string;
}

export type RetryDecision =
  | { readonly kind: "retry"; readonly delayMs: number }
  | (UploadFailure & { readonly kind: "give-up"; readonly delayMs: number });

const retriesMax = 4;
const firstDelayMs = 1000;
const delayGrowth = 1.6;

// Every other code is retried, UNAUTHENTICATED and PERMISSION_DENIED included.
const fatalCodes: readonly number[] = [statusCode.invalidArgument, statusCode.failedPrecondition];

/** Bazel's patience: four tries more, after 1, 1.6, 2.56 and 4.1 s; an ack makes it forget all failures. */
export class RetryPolicy {
  private failures = 0;
  private readonly delayScale: number;

  constructor(delayScale: number) {
    this.delayScale = delayScale;
  }

  sawAck(): void {
    this.failures = 0;
  }

  decide(status: CallStatus): RetryDecision {
    const text = `code ${status.code}: ${status.message}`;
    const delayMs = firstDelayMs * delayGrowth ** this.failures * this.delayScale;
    if (fatalCodes.includes(status.code)) {
      return { kind: "give-up", exitCode: persistentExitCode, delayMs: 0, message: `Not retrying: ${text}` };
    }
    if (this.failures >= retriesMax) {
      const message = `Not retrying, no more attempts left: ${text}`;
      return { kind: "give-up", exitCode: transientExitCode, delayMs, message };
    }
    this.failures += 1;
    return { kind: "retry", delayMs };
  }
}
