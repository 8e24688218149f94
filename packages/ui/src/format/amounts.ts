const kilo = 1_000;
const units = ["B", "kB", "MB", "GB", "TB"];

/** `812 B`, `4.1 kB`, `52 MB`: powers of 1,000. */
export function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= kilo;
    unit += 1;
  }
  const digits = unit === 0 || value >= 9.95 ? 0 : 1;
  return `${value.toFixed(digits)} ${units[unit]}`;
}

const grouped = new Intl.NumberFormat("en");

/** `12,345`. */
export function countText(count: number): string {
  return grouped.format(count);
}

/** `1 test`, `12 tests`. */
export function countOf(count: number, one: string): string {
  return `${countText(count)} ${one}${count === 1 ? "" : "s"}`;
}
