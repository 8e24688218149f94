const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** How long ago, in one unit: `now`, `40s`, `5m`, `3h`, `2d`, and beyond a month the date. */
export function agoText(time: number, now: number): string {
  const ms = now - time;
  if (ms < 5_000) return "now";
  if (ms < minute) return `${Math.floor(ms / 1_000)}s`;
  if (ms < hour) return `${Math.floor(ms / minute)}m`;
  if (ms < day) return `${Math.floor(ms / hour)}h`;
  if (ms < 30 * day) return `${Math.floor(ms / day)}d`;
  return new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" }).format(time);
}

/** Date and time to the second with the viewer's zone named. */
export function exactText(time: number): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" }).format(time);
}
