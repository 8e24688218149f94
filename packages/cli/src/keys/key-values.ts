import { type KeyScope, keyScopes } from "@millrace/db/api-keys";
import { projectPattern } from "@millrace/proto/tokens";
import { z } from "zod";

/** A project as it is named on the command line. */
export const projectSlug = z
  .string()
  .regex(projectPattern, "lower-case letters, digits and hyphens, 40 at most");

/** What a key may do when nobody says it: what a machine that builds needs. */
export const defaultScopes: KeyScope[] = ["ingest", "read"];

/** `ingest,read` → its scopes, each once. */
export const scopeList = z
  .string()
  .transform((text) => [...new Set(text.split(",").map((scope) => scope.trim()))])
  .pipe(z.array(z.enum(keyScopes, `scopes are ${keyScopes.join(", ")}`)));

const secondsOf = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;
const daysMax = 3_650;

/** `90d`, `12h`, `30m`, `0s` → seconds. */
export const lifetime = z
  .string()
  .regex(/^\d{1,9}[smhd]$/, "a number with s, m, h or d behind it, such as 90d")
  .transform((text) => Number(text.slice(0, -1)) * secondsOf[unitOf(text)])
  .refine((seconds) => seconds <= daysMax * secondsOf.d, `${daysMax}d at most`)
  .optional();

function unitOf(text: string): keyof typeof secondsOf {
  const unit = text.at(-1);
  return unit === "s" || unit === "m" || unit === "h" ? unit : "d";
}
