import { z } from "zod";

/** A JSON pointer (RFC 6901): empty for the whole document, else `/` and names or indices. */
export const jsonPointer = z.string().regex(/^(\/([^~/]|~[01])*)*$/, {
  message: 'a JSON pointer is empty or begins with "/"; in its names "~" is written "~0" and "/" is "~1"',
});

/** What stands at `pointer`, or undefined. */
export function at(document: unknown, pointer: string): unknown {
  let here = document;
  for (const part of pointer.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof here !== "object" || here === null) return undefined;
    if (Array.isArray(here) && !/^(0|[1-9]\d*)$/.test(name)) return undefined;
    here = Object.hasOwn(here, name) ? (here as Readonly<Record<string, unknown>>)[name] : undefined;
  }
  return here;
}

/** What stands at `pointer` as text: a string, number or boolean; undefined for anything else and for empty text. */
export function textAt(document: unknown, pointer: string): string | undefined {
  const found = at(document, pointer);
  if (typeof found === "string") return found === "" ? undefined : found;
  return typeof found === "number" || typeof found === "boolean" ? String(found) : undefined;
}
