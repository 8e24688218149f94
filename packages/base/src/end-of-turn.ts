/**
 * Collects what is to be done together at the end of the event loop's turn, in order. Writes of one turn then leave
 * in one system call, and a system call that wakes another process is the most expensive thing we do.
 */
export class EndOfTurn {
  private actions: (() => void)[] = [];
  private readonly run = (): void => {
    const due = this.actions;
    this.actions = [];
    for (const action of due) action();
  };

  /** `action` must not throw. What it adds in turn is done at the end of the next turn. */
  add(action: () => void): void {
    if (this.actions.push(action) === 1) setImmediate(this.run);
  }
}
