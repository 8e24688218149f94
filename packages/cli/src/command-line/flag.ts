import type { Setting } from "@millrace/base/config";
import { z } from "zod";

/** One flag of a command. Its name follows from its key: `grpcPort` is `--grpc-port`. */
export interface Flag<T> {
  readonly schema: z.ZodType<T>;
  /** Where neither flag nor environment says anything. */
  readonly fallback: T;
  /** What stands for the value in the help text, such as `DIR`; undefined for a switch. */
  readonly placeholder: string | undefined;
  readonly description: string;
  /** Also read from there; the flag wins. */
  readonly environmentName: string | undefined;
  /** One letter, as in `-o`. */
  readonly short: string | undefined;
  readonly secret: boolean;
}

export type Flags = Readonly<Record<string, Flag<unknown>>>;

export type FlagValues<F> = { readonly [K in keyof F]: F[K] extends Flag<infer T> ? T : never };

/** A flag with a value. */
export function valueFlag<T>(
  declaration: { placeholder: string; schema: z.ZodType<T>; description: string; short?: string },
  fallback: T,
): Flag<T> {
  return { ...common, ...declaration, fallback };
}

/** A flag that is there or not. */
export function switchFlag(description: string): Flag<boolean> {
  return { ...common, schema: z.boolean(), fallback: false, placeholder: undefined, description };
}

/** A setting that can be given as a flag as well. */
export function settingFlag<T>(
  setting: Setting<T>,
  shown: { placeholder: string; description?: string },
): Flag<T> {
  return {
    ...common,
    schema: setting.schema,
    fallback: setting.fallback,
    placeholder: shown.placeholder,
    description: shown.description ?? setting.description,
    environmentName: setting.environmentName,
    secret: setting.secret,
  };
}

const common = { environmentName: undefined, short: undefined, secret: false };

/** `grpcPort` → `grpc-port`. */
export function flagName(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
