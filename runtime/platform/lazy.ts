/** What is opened once, when it is first needed: the parts of a service that its configuration may not need. */
export class Lazy<T> {
  private readonly open: () => Promise<T>;
  private opening: Promise<T> | null = null;
  /** What is open; null: nothing has needed it yet. */
  opened: T | null = null;

  constructor(open: () => Promise<T>) {
    this.open = open;
  }

  /** Opens it with the first call. Rejects, each time, when it cannot be opened. */
  use(): Promise<T> {
    this.opening ??= this.open().then((opened) => {
      this.opened = opened;
      return opened;
    });
    return this.opening;
  }

  /** Ends it, once it is open; does nothing when it is not. */
  async end(end: (opened: T) => Promise<void>): Promise<void> {
    const opened = await this.opening?.catch(() => null);
    if (opened != null) await end(opened);
  }
}
