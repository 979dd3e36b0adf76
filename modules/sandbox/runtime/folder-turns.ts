/**
 * Lets the runs of one folder run one after the other: when a run ends, the runtime removes the empty files that keep its program
 * from making `.mcp.json`, `.bashrc` and the like, and with them the protection of every other run that is under way there.
 */
export class FolderTurns {
  private readonly last = new Map<string, Promise<void>>();

  /** Waits until the folder is free, or the signal aborts. @returns what ends the turn */
  async take(folder: string, signal?: AbortSignal): Promise<() => void> {
    const before = this.last.get(folder);
    let end = (): void => {};
    const mine = new Promise<void>((resolve) => {
      end = resolve;
    });
    const all = Promise.all([before, mine]).then(() => {
      if (this.last.get(folder) === all) this.last.delete(folder);
    });
    this.last.set(folder, all);
    const aborted = new Promise<void>((resolve) => {
      if (signal?.aborted === true) resolve();
      signal?.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.race([before, aborted]);
    return end;
  }
}
