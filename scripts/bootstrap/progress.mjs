const stepsShownAfterMs = 1000;

/**
 * One line on standard error. Standard output belongs to the program that is started in the end.
 * @param {string} line
 */
export function say(line) {
  process.stderr.write(`millrace: ${line}\n`);
}

/**
 * Announces a slow step, runs it, and says how long it took.
 * @template T
 * @param {string} label
 * @param {() => Promise<T>} action
 * @returns {Promise<T>}
 */
export async function step(label, action) {
  say(`${label} …`);
  const startedMs = performance.now();
  const result = await action();
  const tookMs = performance.now() - startedMs;
  if (tookMs >= stepsShownAfterMs) say(`  done in ${(tookMs / 1000).toFixed(1)} s`);
  return result;
}
