/** Steps of the 6 × 6 × 6 cube of xterm's palette. */
const cube = [0, 95, 135, 175, 215, 255];

/**
 * The CSS colour of a style's colour: the first sixteen are tokens and so fit light and dark; the others are what the program asked
 * for.
 */
export function cssColour(colour: string): string {
  if (colour.startsWith("#")) return colour;
  const index = Number(colour);
  if (index < 16) return `var(--ansi-${index})`;
  if (index < 232) {
    const at = index - 16;
    const [red, green, blue] = [Math.floor(at / 36), Math.floor(at / 6) % 6, at % 6].map(
      (step) => cube[step],
    );
    return `rgb(${red} ${green} ${blue})`;
  }
  const grey = 8 + (index - 232) * 10;
  return `rgb(${grey} ${grey} ${grey})`;
}
