/** What a digest, or several, said about the rows of one attempt. */
export interface Change {
  /** 0 when more than one attempt changed. */
  readonly attempt: number;
  /** Labels whose rows changed; nothing is left out unless `all`. */
  readonly labels: readonly string[];
  /** Anything may have changed. */
  readonly all: boolean;
}

/** As many labels as a page asks for in one request. */
export const labelsMax = 100;

export const everything: Change = { attempt: 0, labels: [], all: true };

/** Two changes as one that tells at least as much. */
export function mergeChanges(a: Change, b: Change): Change {
  const attempt = a.attempt === b.attempt ? a.attempt : 0;
  if (a.all || b.all || attempt === 0) return { attempt, labels: [], all: true };
  const labels = [...new Set([...a.labels, ...b.labels])];
  return labels.length > labelsMax ? { attempt, labels: [], all: true } : { attempt, labels, all: false };
}

/** Invocations that changed and were not read yet, each once. */
export class Changes {
  private readonly waiting = new Map<string, { name: ChangedName; change: Change }>();

  get size(): number {
    return this.waiting.size;
  }

  add(name: ChangedName, change: Change): void {
    const key = changedKey(name);
    const older = this.waiting.get(key)?.change;
    this.waiting.set(key, { name, change: older === undefined ? change : mergeChanges(older, change) });
  }

  /** Takes out at most `limit`, oldest first. */
  take(limit: number): { name: ChangedName; change: Change }[] {
    const taken = [...this.waiting.values()].slice(0, limit);
    for (const { name } of taken) this.waiting.delete(changedKey(name));
    return taken;
  }
}

export interface ChangedName {
  readonly project: string;
  readonly invocationId: string;
}

/** A slug holds no slash. */
export function changedKey(name: ChangedName): string {
  return `${name.project}/${name.invocationId}`;
}
