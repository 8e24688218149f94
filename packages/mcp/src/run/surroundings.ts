import type { Clock } from "@millrace/base/clock";
import type { Log } from "@millrace/base/log";
import type { Random } from "@millrace/base/random";
import type { Redactor } from "../redact/redactor.ts";
import type { Store } from "../store/store.ts";
import type { RunSettings } from "./config.ts";
import type { OutputBaseLocks } from "./output-base-lock.ts";
import type { Permits } from "./permits.ts";

/** What a run needs from the server it lives in. */
export interface Surroundings {
  readonly store: Store;
  readonly settings: RunSettings;
  readonly redactor: Redactor;
  readonly locks: OutputBaseLocks;
  readonly permits: Permits;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}
