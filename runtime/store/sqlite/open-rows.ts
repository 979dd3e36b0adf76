/**
 * What this connection knows of unfinished dispatches because it wrote it, so that a change need not read first.
 * Everything is forgotten as soon as another process has written.
 */
import type { Ref } from '../mutations.ts';
import type { OpenState } from '../states.ts';

export interface OpenRow {
  state: OpenState;
  readonly profile: string;
  readonly route: string | null;
  readonly id: string;
  /** Steps recorded so far. */
  steps: number;
}

/** More are forgotten at once: whoever is missing is read from the database. */
const MAX_KNOWN = 50_000;

export class OpenRows {
  private readonly known = new Map<Ref, OpenRow>();

  get(ref: Ref): OpenRow | undefined {
    return this.known.get(ref);
  }

  add(ref: Ref, row: OpenRow): void {
    if (this.known.size >= MAX_KNOWN) this.known.clear();
    this.known.set(ref, row);
  }

  forget(ref: Ref): void {
    this.known.delete(ref);
  }

  forgetAll(): void {
    this.known.clear();
  }
}
