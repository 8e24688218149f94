/** What a stage costs: the median of its rounds, in microseconds of CPU per event, all threads of this process. */
export interface StageFigure {
  readonly stage: string;
  readonly cpuMicrosPerEvent: number;
  /** Lowest and highest of the rounds: what lies between two runs' figures within it is noise. */
  readonly range: readonly [number, number];
}

/** They do not count. */
export const warmUpRounds = 3;

/** Runs a stage over `events` events in each round; the first rounds warm it up and do not count. */
export async function cpuPerEvent(
  stage: string,
  of: { readonly events: number; readonly rounds: number; readonly run: (round: number) => unknown },
): Promise<StageFigure> {
  const figures: number[] = [];
  for (let round = 0; round < warmUpRounds + of.rounds; round += 1) {
    const before = process.cpuUsage();
    await of.run(round);
    const { user, system } = process.cpuUsage(before);
    if (round >= warmUpRounds) figures.push((user + system) / of.events);
  }
  return figureOf(stage, figures);
}

export function figureOf(stage: string, microsOfRounds: readonly number[]): StageFigure {
  const figures = microsOfRounds.toSorted((a, b) => a - b);
  const rounded = (value: number | undefined): number => Number((value ?? 0).toFixed(3));
  return {
    stage,
    cpuMicrosPerEvent: rounded(figures[Math.floor(figures.length / 2)]),
    range: [rounded(figures[0]), rounded(figures.at(-1))],
  };
}
