/** Numbers of a Prometheus text exposition, by name; those of one name with different labels are added up. */
export type MetricNumbers = ReadonlyMap<string, number>;

export function parseMetrics(text: string): MetricNumbers {
  const numbers = new Map<string, number>();
  for (const line of text.split("\n")) {
    const match = /^([a-zA-Z_:][\w:]*)(?:\{.*\})? (\S+)$/.exec(line);
    const [, name, value] = match ?? [];
    if (name === undefined) continue;
    numbers.set(name, (numbers.get(name) ?? 0) + Number(value));
  }
  return numbers;
}

/** Asks every process for its numbers; one that does not answer has none. */
export async function scrape(urls: Readonly<Record<string, string>>): Promise<Record<string, MetricNumbers>> {
  const answers = Object.entries(urls).map(async ([name, url]) => {
    const text = await fetch(url, { signal: AbortSignal.timeout(10_000) })
      .then((answer) => answer.text())
      .catch(() => "");
    return [name, parseMetrics(text)] as const;
  });
  return Object.fromEntries(await Promise.all(answers));
}
