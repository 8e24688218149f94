import { createHash } from "node:crypto";
import type { Clock } from "@millrace/base/clock";
import { type Random, withJitter } from "@millrace/base/random";
import type { Bus } from "@millrace/proto/bus";
import { keyLookupChannel } from "@millrace/proto/channels";
import { KeyCache, type KeyGrant } from "./key-cache.ts";

/** What a caller may do. */
export type KeyOutcome =
  | { readonly kind: "granted"; readonly grant: KeyGrant }
  | { readonly kind: "refused"; readonly message: string }
  /** Nobody answered in time, and nothing is known of the key. */
  | { readonly kind: "unanswered" };

export interface KeyDeskPorts {
  readonly bus: Pick<Bus, "request">;
  readonly clock: Clock;
  readonly random: Random;
}

const askTimeoutMs = 2_000;
const askAgainMs = 250;
const askAgainMaxMs = 2_000;

/** Scope that a key needs to publish builds. */
const ingestScope = "ingest";

/** Resolves API keys through the writers; equal questions at the same time are asked once. */
export class KeyDesk {
  readonly counters = { asked: 0, unanswered: 0, refused: 0 };
  private readonly cache = new KeyCache();
  private readonly asking = new Map<string, Promise<void>>();
  private readonly ports: KeyDeskPorts;

  constructor(ports: KeyDeskPorts) {
    this.ports = ports;
  }

  /** The outcome, if no question is needed for it. */
  known(apiKey: string | undefined): KeyOutcome | undefined {
    const state = this.cache.state(digestOf(apiKey).toString("hex"), this.ports.clock.monotonic());
    if (state.kind === "unknown") return undefined;
    return this.outcome(state.kind === "granted" ? state.grant : undefined, apiKey);
  }

  /**
   * Asks until somebody answers, for at most `holdMs` or until `isGone` says that nobody waits any more.
   * Never fails.
   */
  async resolve(
    apiKey: string | undefined,
    patience: { holdMs: number; isGone: () => boolean },
  ): Promise<KeyOutcome> {
    const { clock, random } = this.ports;
    const until = clock.monotonic() + patience.holdMs;
    let delayMs = askAgainMs;
    for (;;) {
      const known = this.known(apiKey);
      if (known !== undefined) return known;
      const left = until - clock.monotonic();
      if (left <= 0 || patience.isGone()) return { kind: "unanswered" };
      await this.ask(apiKey, Math.min(left, askTimeoutMs));
      if (this.known(apiKey) !== undefined) continue;
      await pause(clock, Math.min(withJitter(random, delayMs), Math.max(0, until - clock.monotonic())));
      delayMs = Math.min(delayMs * 2, askAgainMaxMs);
    }
  }

  private ask(apiKey: string | undefined, timeoutMs: number): Promise<void> {
    const digest = digestOf(apiKey);
    const key = digest.toString("hex");
    const running = this.asking.get(key);
    if (running !== undefined) return running;
    this.counters.asked += 1;
    const question = this.ports.bus
      .request(keyLookupChannel, {
        subject: keyLookupChannel.name,
        message: { keySha256: digest },
        timeoutMs,
      })
      .then(
        (reply) => {
          const now = this.ports.clock.monotonic();
          const { project = "", scopes, serverSecret } = reply;
          const grant = { project: project ?? "", scopes: scopes ?? [], serverSecret: plain(serverSecret) };
          this.cache.answered(key, reply.known === true ? grant : undefined, now);
        },
        () => {
          this.counters.unanswered += 1;
          this.cache.unanswered(key, this.ports.clock.monotonic());
        },
      )
      .finally(() => this.asking.delete(key));
    this.asking.set(key, question);
    return question;
  }

  private outcome(grant: KeyGrant | undefined, apiKey: string | undefined): KeyOutcome {
    if (grant?.scopes.includes(ingestScope)) return { kind: "granted", grant };
    this.counters.refused += 1;
    return { kind: "refused", message: refusal(grant, apiKey) };
  }
}

function refusal(grant: KeyGrant | undefined, apiKey: string | undefined): string {
  if (grant !== undefined) {
    return `The API key of this call may not publish builds: it lacks the scope "${ingestScope}" in project "${grant.project}". Use another key, or have the scope added in the project's settings.`;
  }
  if (apiKey === undefined) {
    return "This server needs an API key: add --bes_header=x-api-key=KEY to the Bazel command or .bazelrc (and --remote_header for a remote cache).";
  }
  return "The API key in x-api-key is unknown, expired or revoked: check --bes_header=x-api-key=KEY, or have a new key made in the project's settings.";
}

/** SHA-256 of the key as sent; the key itself never travels. Empty when there is none. */
function digestOf(apiKey: string | undefined): Buffer {
  if (apiKey === undefined) return Buffer.alloc(0);
  return createHash("sha256").update(apiKey, "utf8").digest();
}

function plain(bytes: Uint8Array | null | undefined): Uint8Array {
  // A copy: what was decoded shares the network's buffer, which would travel to the threads as a whole.
  return Uint8Array.from(bytes ?? []);
}

function pause(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(delayMs, resolve);
  });
}
