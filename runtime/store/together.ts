/**
 * The changes of the events of one request: one commit stores all of them, or nothing is stored. Each event adds a change or
 * leaves; the last one to do so sends the changes.
 */

interface SharedChange {
  /** Adds it to the next commit. */
  readonly push: () => void;
  readonly refuse: () => void;
}

export class Together {
  private static last = 0;
  readonly id = ++Together.last;
  private readonly changes: SharedChange[] = [];
  /** Number of events that have not added a change or left. */
  private missing: number;
  private isRefused = false;
  private send = (): void => {};

  constructor(events: number) {
    this.missing = events;
  }

  get isOpen(): boolean {
    return this.missing > 0;
  }

  /** Number of changes so far. */
  get size(): number {
    return this.changes.length;
  }

  /** @param send starts the commit, once all changes are in it */
  add(change: SharedChange, send: () => void): void {
    this.changes.push(change);
    this.send = send;
    this.arrived();
  }

  /** Has no effect for an event that has added its change. @param isRefused nothing is stored for the others either */
  leave(isRefused: boolean): void {
    if (!this.isOpen) return;
    this.isRefused ||= isRefused;
    this.arrived();
  }

  private arrived(): void {
    this.missing--;
    if (this.isOpen) return;
    for (const { push, refuse } of this.changes) (this.isRefused ? refuse : push)();
    if (!this.isRefused) this.send();
  }
}
