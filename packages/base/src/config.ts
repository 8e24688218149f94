import { z } from "zod";

/**
 * A process declares its settings once: `{ grpcPort: setting("GRPC_PORT", z.coerce.number(), 1985, "…") }`.
 * The environment name is `MILLRACE_` + name; help text, documentation and type follow from the declaration.
 */
export interface Setting<T> {
  readonly environmentName: string;
  readonly schema: z.ZodType<T>;
  readonly fallback: T;
  readonly description: string;
  readonly secret: boolean;
}

export type Settings<G> = { readonly [K in keyof G]: G[K] extends Setting<infer T> ? T : never };

type Group = Readonly<Record<string, Setting<unknown>>>;

export function setting<T>(
  declaration: { name: string; schema: z.ZodType<T>; description: string; secret?: boolean },
  fallback: T,
): Setting<T> {
  return {
    environmentName: `MILLRACE_${declaration.name}`,
    schema: declaration.schema,
    fallback,
    description: declaration.description,
    secret: declaration.secret ?? false,
  };
}

/** A boolean written as true/false, 1/0, yes/no or on/off. */
export const booleanText = z
  .enum(["true", "false", "1", "0", "yes", "no", "on", "off"])
  .transform((text) => ["true", "1", "yes", "on"].includes(text));

/** Thrown for a setting that is misspelt, does not parse or contradicts another; the message names it. */
export class ConfigError extends Error {
  /** One sentence each. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`Configuration: ${problems.join("; ")}`);
    this.name = "ConfigError";
    this.problems = problems;
  }
}

/** The environment of this process. The only place that reads `process.env`. */
export function processEnvironment(): Readonly<Record<string, string | undefined>> {
  return process.env;
}

/** Reads `group` from the environment; every problem is named in one error. */
export function readSettings<G extends Group>(
  group: G,
  environment: Readonly<Record<string, string | undefined>>,
): Settings<G> {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [key, declared] of Object.entries(group)) {
    const text = environment[declared.environmentName];
    if (text === undefined || text === "") {
      values[key] = declared.fallback;
      continue;
    }
    const parsed = declared.schema.safeParse(text);
    if (parsed.success) values[key] = parsed.data;
    else {
      const shown = declared.secret ? "***" : JSON.stringify(text);
      problems.push(
        `${declared.environmentName}=${shown}: ${parsed.error.issues[0]?.message ?? "not valid"}`,
      );
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return values as Settings<G>;
}

/**
 * `MILLRACE_` names in the environment that no group declares: misspelt ones. Whoever starts processes checks
 * this over the groups of all of them, because each process sees the settings of the others as well.
 */
export function unknownNames(
  groups: readonly Group[],
  environment: Readonly<Record<string, string | undefined>>,
): string[] {
  const names = new Set(groups.flatMap((group) => Object.values(group).map((s) => s.environmentName)));
  return Object.keys(environment).filter(
    (name) => name.startsWith("MILLRACE_") && !names.has(name) && !foreignNames.has(name),
  );
}

/** Lines for `--help` and the documentation page: name, default, description. */
export function describeSettings(group: Group): string[] {
  return Object.values(group).map((declared) => {
    const fallback = declared.secret ? "***" : JSON.stringify(declared.fallback);
    return `${declared.environmentName} (default ${fallback}): ${declared.description}`;
  });
}

/** Read by tools that are not processes of ours. */
const foreignNames = new Set(["MILLRACE_SHARED_DATA", "MILLRACE_MUTANT", "MILLRACE_SEEDS"]);
