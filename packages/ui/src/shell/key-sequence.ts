/** What a key press means, given the keys before it. */
export type KeyMeaning =
  | { readonly kind: "run"; readonly keys: string }
  | { readonly kind: "wait"; readonly pending: string }
  | { readonly kind: "nothing" };

/** Shortcuts are one key, or two with a space between them, such as `g b`. */
export function readKey(pending: string, key: string, known: ReadonlySet<string>): KeyMeaning {
  const keys = pending === "" ? key : `${pending} ${key}`;
  if (known.has(keys)) return { kind: "run", keys };
  if ([...known].some((each) => each.startsWith(`${keys} `))) return { kind: "wait", pending: keys };
  return pending === "" ? { kind: "nothing" } : readKey("", key, known);
}
