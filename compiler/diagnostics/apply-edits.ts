/** Applies edits to a text. */
import type { TextEdit } from './diagnostic.ts';

/** @param edits in text order, without overlaps */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  let after = '';
  let at = 0;
  for (const { range, text: inserted } of edits) {
    after += text.slice(at, range.start) + inserted;
    at = range.end;
  }
  return after + text.slice(at);
}
