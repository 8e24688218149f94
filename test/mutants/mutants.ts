/** A textual change that breaks one invariant of SPEC.md §4, and the test that must notice. */
export interface Mutant {
  readonly name: string;
  readonly invariant: number;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  readonly killedBy: { readonly project: string; readonly file: string };
}

const simulation = { project: "sim", file: "test/sim/simulation.test.ts" };
const actor = { project: "unit", file: "packages/actors/src/core/actor.test.ts" };

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
    name: "carry-dropped-at-takeover",
    invariant: 9,
    file: "packages/actors/src/core/batch-maker.ts",
    find: "this.projector = this.newProjector(carry);\n    this.builder = new BatchBuilder(committed + 1, {\n      bytes: carry.logBytes ?? 0,\n      lines: carry.logLines ?? 0,\n    });",
    replace:
      "this.projector = this.newProjector(undefined);\n    this.builder = new BatchBuilder(committed + 1, { bytes: 0, lines: 0 });",
    killedBy: simulation,
  },
];

export const actorTests = actor;
