import { assert } from "@millrace/base/assert";
import { BlockTemplate, firstNumber } from "./block-template.ts";
import { closingEvents, executionEvents, openingEvents, withProgress } from "./build-events.ts";
import { Chance } from "./chance.ts";
import { ConsoleWriter } from "./console-text.ts";
import { encodeEvents } from "./encode.ts";
import { hashOf } from "./hash.ts";
import { outcomeOf } from "./outcome.ts";
import { maskedSecrets, type PlantedSecrets, plantedSecrets } from "./planted-secrets.ts";
import { eventsOf, type Recipe, recipeOf } from "./recipe.ts";
import { type BuildSketch, sketchBuild } from "./sketch.ts";
import { configuredEvent, skippedEvent } from "./target-events.ts";
import type { Workload } from "./workload.ts";

const variants = 2;
const blocks = 1_000;
/** Events of each variant's beginning that the hash covers; it covers the recipe too. */
const hashedEvents = 1_000;

/** One build of half a million events, made while they are sent: in blocks of 100 targets that differ in all their names. */
export function hugeWorkload(): Workload {
  const recipe = recipeOf("huge");
  const templates = new Map<number, HugeBuild>();
  const of = (variant: number): HugeBuild => {
    assert(variant >= 0 && variant < variants, `the workload huge has no variant ${variant}`);
    const build = templates.get(variant) ?? new HugeBuild(recipe, variant);
    templates.set(variant, build);
    return build;
  };
  const first = (variant: number) => take(of(variant).payloads(plantedSecrets(variant)), hashedEvents);
  return {
    name: "huge",
    hash: hashOf([JSON.stringify(recipe), ...first(0), ...first(1)]),
    eventsPerBuild: eventsOf(recipe),
    variants,
    payloads: (variant) => of(variant).payloads(plantedSecrets(variant)),
    storedPayloads: (variant) => of(variant).payloads(maskedSecrets),
    exitCode: (variant) => outcomeOf(variant).exitCode,
  };
}

class HugeBuild {
  private readonly recipe: Recipe;
  private readonly variant: number;
  /** The build with the targets of one block. */
  private readonly block: BuildSketch;
  private readonly template: BlockTemplate;

  constructor(recipe: Recipe, variant: number) {
    this.recipe = recipe;
    this.variant = variant;
    const targetName = (index: number, name: string) => `${name}_${firstNumber.target + index}`;
    const block = sketchBuild({ workload: "huge", recipe: blockRecipe(recipe), variant, targetName });
    const { configured: target, namedSetOfFiles: namedSet, progress } = block.recipe;
    const console = new ConsoleWriter(block, maskedSecrets, { firstCount: firstNumber.progress });
    const execution = executionEvents(block, (set) => String(firstNumber.namedSet + set));
    const events = withProgress([...block.targets.map(configuredEvent), ...execution], {
      console,
      count: progress,
    });
    this.block = block;
    this.template = new BlockTemplate(encodeEvents(events), {
      keep: block.configurations,
      step: { target, namedSet, progress },
      seed: 5_000_000 * (variant + 1),
    });
  }

  *payloads(secrets: PlantedSecrets): Generator<Uint8Array> {
    const { recipe, block, variant } = this;
    const build = { ...block, recipe, chance: new Chance(9_000_000 + variant) };
    const opening = new ConsoleWriter(build, secrets);
    yield* encodeEvents(openingEvents(build, { secrets, console: opening, labels: this.labels() }));
    for (let number = 0; number < blocks; number += 1) yield* this.template.block(number);
    const inBlocks = block.recipe.progress * blocks;
    const console = new ConsoleWriter(build, secrets, { firstCount: firstNumber.progress + inBlocks });
    const rest = Array.from({ length: recipe.progress - inBlocks - 2 }, () => console.next([]));
    const skipped = Array.from({ length: recipe.aborted }, () => skippedEvent(build));
    yield* encodeEvents([...skipped, ...rest, console.last(), ...closingEvents(build)]);
  }

  private *labels(): Generator<string> {
    const { targets } = this.block;
    for (let number = 0; number < blocks; number += 1) {
      for (const [index, { label }] of targets.entries()) {
        const suffix = `_${firstNumber.target + index}`;
        yield label.replace(suffix, `_${firstNumber.target + index + number * targets.length}`);
      }
    }
  }
}

/** What of the recipe is in each block; the rest stands around them. */
function blockRecipe(recipe: Recipe): Recipe {
  const shares = Object.entries(recipe).map(([kind, count]) => [kind, Math.floor(count / blocks)]);
  return Object.fromEntries(shares) as Recipe;
}

function* take<T>(items: Iterable<T>, count: number): Generator<T> {
  let left = count;
  for (const item of items) {
    if (left === 0) return;
    left -= 1;
    yield item;
  }
}
