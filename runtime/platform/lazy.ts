/** Opens a service once, when it is first needed: for services that a configuration may not need. */
export class Lazy<T> {
  private readonly open: () => Promise<T>;
  private opening: Promise<T> | null = null;
  /** The opened service; null: not needed yet. */
  opened: T | null = null;

  constructor(open: () => Promise<T>) {
    this.open = open;
  }

  /** Opens it at the first call. Rejects, each time, if it cannot be opened. */
  use(): Promise<T> {
    this.opening ??= this.open().then((opened) => {
      this.opened = opened;
      return opened;
    });
    return this.opening;
  }

  /** Ends it once it is open; does nothing if it is not. */
  async end(end: (opened: T) => Promise<void>): Promise<void> {
    const opened = await this.opening?.catch(() => null);
    if (opened != null) await end(opened);
  }
}
