/** The name that was probably meant: the nearest by edits, if it is near. */
export function closest(typed: string, names: readonly string[]): string | undefined {
  const editsMax = Math.max(1, Math.floor(typed.length / 3));
  const ranked = names
    .map((name) => ({ name, edits: editsBetween(typed, name) }))
    .filter(({ edits }) => edits <= editsMax)
    .sort((a, b) => a.edits - b.edits);
  return ranked[0]?.name;
}

/** Levenshtein's distance, with the swap of two neighbours as one edit. */
function editsBetween(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row++) {
    const next = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      next[column] = Math.min(
        (last[column] ?? 0) + 1,
        (next[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforeLast = last;
    last = next;
  }
  return last[b.length] ?? 0;
}
