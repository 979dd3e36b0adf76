/**
 * The dispatches that this process has accepted most recently, so that a run that begins at once need not read and parse
 * again what was just written. A dispatch never changes once it is stored.
 */
import type { Dispatch } from '../../../schemas/generated/types.ts';
import type { Ref } from '../mutations.ts';

/** UTF-16 units of prompts that are kept. */
const MAX_CHARS = 8 * 1024 * 1024;
/** What a dispatch takes beside its prompt, about. */
const REST_CHARS = 1000;

export class RecentDispatches {
  private readonly known = new Map<Ref, Dispatch>();
  private chars = 0;

  add(ref: Ref, dispatch: Dispatch): void {
    this.known.set(ref, dispatch);
    this.chars += dispatch.prompt.length + REST_CHARS;
    for (const [oldest, { prompt }] of this.known) {
      if (this.chars <= MAX_CHARS) return;
      this.known.delete(oldest);
      this.chars -= prompt.length + REST_CHARS;
    }
  }

  get(ref: Ref): Dispatch | null {
    return this.known.get(ref) ?? null;
  }
}
