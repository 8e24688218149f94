import { mcpMutants } from "./mcp-mutants.ts";
import { signalMutants } from "./signal-mutants.ts";

/** A textual change that breaks one invariant of SPEC.md §4 or of another page, and the test that must notice. */
export interface Mutant {
  readonly name: string;
  readonly invariant: number | `STORE ${number}` | `SIGNAL ${number}`;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  readonly killedBy: { readonly project: string; readonly file: string };
}

const simulation = { project: "sim", file: "test/sim/simulation.test.ts" };
const fence = { project: "services", file: "packages/writer/src/statements/fence.pg.test.ts" };
const sweep = { project: "services", file: "packages/writer/src/statements/sweep.pg.test.ts" };
const law = { project: "services", file: "test/pipeline/law.pg.test.ts" };

export const mutants: readonly Mutant[] = [
  {
    name: "ack-at-received",
    invariant: 1,
    file: "packages/actors/src/core/position.ts",
    find: "const to = Math.max(at.acked, Math.min(at.committed, at.seen));",
    replace: "const to = Math.max(at.acked, at.seen);",
    killedBy: simulation,
  },
  {
    name: "acks-from-one-on-resume",
    invariant: 2,
    file: "packages/actors/src/core/position.ts",
    find: "return { committed: 0, seen: firstSequence - 1, acked: firstSequence - 1 };",
    replace: "return { committed: 0, seen: firstSequence - 1, acked: 0 };",
    killedBy: { project: "unit", file: "packages/actors/src/core/position.prop.test.ts" },
  },
  {
    name: "fence-without-owner",
    invariant: 4,
    file: "packages/writer/src/statements/positions.ts",
    find: "  and p.owner = decode(f.owner, 'hex')\n",
    replace: "",
    killedBy: fence,
  },
  {
    name: "already-committed-without-owner",
    invariant: 5,
    file: "packages/writer/src/fence-batches.ts",
    find: "if (repeat.opened === undefined && repeat.batch.owner !== position.owner) return fencedVerdict;",
    replace: "",
    killedBy: fence,
  },
  {
    name: "notice-before-commit",
    invariant: 6,
    file: "packages/writer/src/commit-group.ts",
    find:
      "const verdicts = await context.store.transact((tx) => writeGroup(tx, tasks, context));\n" +
      "  notify(verdicts, context.metrics);",
    replace:
      "await context.store.transact(async (tx) => notify(await writeGroup(tx, tasks, context), context.metrics));",
    killedBy: simulation,
  },
  {
    name: "commit-in-doubt-is-failure",
    invariant: 6,
    file: "packages/writer/src/salvage.ts",
    find: 'if (isInDoubt(error)) return "again";',
    replace: 'if (isInDoubt(error)) return "reject";',
    killedBy: simulation,
  },
  {
    name: "absolute-counters",
    invariant: 8,
    file: "packages/writer/src/statements/invocation-rows.ts",
    find: "undecoded_events = i.undecoded_events + p.undecoded,",
    replace: "undecoded_events = p.undecoded,",
    killedBy: law,
  },
  {
    name: "carry-dropped-at-takeover",
    invariant: 9,
    file: "packages/actors/src/core/batch-maker.ts",
    find: "this.projector = this.newProjector(carry);\n    this.builder = new BatchBuilder(committed + 1, {\n      bytes: carry.logBytes ?? 0,\n      lines: carry.logLines ?? 0,\n    });",
    replace:
      "this.projector = this.newProjector(undefined);\n    this.builder = new BatchBuilder(committed + 1, { bytes: 0, lines: 0 });",
    killedBy: simulation,
  },
  {
    name: "sweep-without-compare-and-set",
    invariant: 10,
    file: "packages/writer/src/statements/sweep.ts",
    find: "  and p.owner = decode(s.owner, 'hex') and p.last_event_seq = s.last_event_seq\n",
    replace: "",
    killedBy: sweep,
  },
  ...mcpMutants,
  ...signalMutants,
];
