import { Chance } from "./chance.ts";

/**
 * The only texts of a workload that the server changes: they must not be stored as they are sent. Two of a build, where
 * they are usual: an environment variable on the command line, and a URL with a password in the console.
 */
export interface PlantedSecrets {
  /** Value of the client's environment variable `DEPLOY_TOKEN`. */
  readonly deployToken: string;
  /** User and password of a URL in the console. */
  readonly userinfo: string;
}

const mask = "<redacted>";

/** What the server stores in their place. */
export const maskedSecrets: PlantedSecrets = { deployToken: mask, userinfo: mask };

export function plantedSecrets(variant: number): PlantedSecrets {
  const chance = new Chance(77_000 + variant);
  return { deployToken: chance.hex(40), userinfo: `ci:${chance.hex(20)}` };
}
