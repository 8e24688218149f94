import { assert } from "@millrace/base/assert";
import { buildEvents } from "./build-events.ts";
import { encodeEvents } from "./encode.ts";
import { hashOf } from "./hash.ts";
import { outcomeOf } from "./outcome.ts";
import { maskedSecrets, type PlantedSecrets, plantedSecrets } from "./planted-secrets.ts";
import { eventsOf, recipeOf } from "./recipe.ts";
import { sketchBuild } from "./sketch.ts";
import type { Workload } from "./workload.ts";

/** A log build is 1.4 MB. */
const variantsOf = { tiny: 64, real: 64, log: 16 } as const;
/** --bes_outerr_buffer_size: what a build that prints much has in each of its progress events. */
const printedCharsMin = { tiny: 0, real: 0, log: 10_240 } as const;

/** A workload whose builds are small enough to be held: encoded once, sent many times. */
export function fixedWorkload(name: keyof typeof variantsOf): Workload {
  const variants = variantsOf[name];
  const recipe = recipeOf(name);
  const sent = Array.from({ length: variants }, (_, variant) =>
    encodeVariant(variant, plantedSecrets(variant)),
  );
  const stored = new Map<number, Uint8Array[]>();

  function encodeVariant(variant: number, secrets: PlantedSecrets): Uint8Array[] {
    const build = sketchBuild({ workload: name, recipe, variant });
    const payloads = encodeEvents(buildEvents(build, { secrets, printedCharsMin: printedCharsMin[name] }));
    assert(payloads.length === eventsOf(recipe) - 1, "a build has the events of its recipe");
    return payloads;
  }

  const of = (variant: number): Uint8Array[] => {
    const payloads = sent[variant];
    assert(payloads !== undefined, `the workload ${name} has no variant ${variant}`);
    return payloads;
  };
  return {
    name,
    hash: hashOf(sent.flat()),
    eventsPerBuild: eventsOf(recipe),
    variants,
    payloads: of,
    storedPayloads: (variant) => {
      const known = stored.get(variant) ?? encodeVariant(variant, maskedSecrets);
      stored.set(variant, known);
      return known;
    },
    exitCode: (variant) => outcomeOf(variant).exitCode,
  };
}
