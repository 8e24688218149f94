/** `{ [name]: value }`, or nothing when the value is absent: a patch names only what its event set. */
export function present<N extends string, V>(name: N, value: V | undefined): { [K in N]?: V } {
  return value === undefined ? {} : ({ [name]: value } as { [K in N]?: V });
}

/** The same for texts, where BEP's "" means absent. */
export function presentText<N extends string>(name: N, value: string): { [K in N]?: string } {
  return present(name, value === "" ? undefined : storable(value));
}

/** PostgreSQL's text cannot hold U+0000; a build is never refused for its content. */
export function storable(text: string): string {
  return text.includes("\u0000") ? text.replaceAll("\u0000", "\ufffd") : text;
}
