import path from "node:path";
import { mutants } from "./mutants.ts";

interface LoadPlugin {
  readonly name: string;
  readonly enforce: "pre";
  transform(code: string, id: string): string | undefined;
}

const root = path.resolve(import.meta.dirname, "../..");

/**
 * Applies one mutant of `mutants.ts` while modules load. A mutant whose text is not found exactly once is an
 * error: the code has changed and the mutant must follow.
 *
 * @param name the mutant, or undefined for the code as it is
 */
export function mutantPlugin(name: string | undefined): LoadPlugin[] {
  if (name === undefined || name === "") return [];
  const mutant = mutants.find((candidate) => candidate.name === name);
  if (mutant === undefined) throw new Error(`there is no mutant ${name}`);
  const target = path.join(root, mutant.file);
  return [
    {
      name: `mutant ${name}`,
      enforce: "pre",
      transform(code, id) {
        if (id.split("?")[0] !== target) return undefined;
        const parts = code.split(mutant.find);
        if (parts.length !== 2) {
          throw new Error(`mutant ${name}: its text occurs ${parts.length - 1} times in ${mutant.file}`);
        }
        return parts.join(mutant.replace);
      },
    },
  ];
}
