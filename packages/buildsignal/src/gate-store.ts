import type { Stage } from "./topics.ts";

/** A part of a stage that can be closed: one partition, or with an empty key all of it. */
export interface Gate {
  readonly stage: Stage;
  readonly key: string;
}

/**
 * Closed gates. What stands behind one is not handed out, is not counted as an attempt and keeps its place; who has it in
 * hand finishes it. Gates and deliveries are in one database, read by one statement: a gate that cannot be read holds
 * nothing up that could go on.
 */
export interface GateStore {
  close(gate: Gate, reason: string): Promise<void>;
  /** False when it was not closed. */
  open(gate: Gate): Promise<boolean>;
}
