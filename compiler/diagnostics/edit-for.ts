/** The change of text that repairs a problem, for `lint --fix`. */
import type { Place } from '../source/source-tree.ts';
import type { TextEdit } from './diagnostic.ts';
import type { Problem, Repair } from './problem.ts';

/** Null when the part that is to be changed does not stand in the file as it was read (an escape, a folded line). */
export function editFor(problem: Problem, repair: Repair, place: Place): TextEdit | null {
  const range = problem.at === 'key' ? place.key : partOf(problem, place);
  if (range === null) return null;
  const written = place.file.source.text.slice(range.start, range.end);
  if (repair.kind === 'rename') {
    const quote = /^["']/.exec(written)?.[0] ?? '';
    return { range, text: quote + repair.text + quote };
  }
  if (repair.kind === 'replace') return { range, text: repair.text };
  return /["\\\n]/.test(written) ? null : { range, text: `"${written}"` };
}

function partOf({ within }: Problem, place: Place): TextEdit['range'] | null {
  return within === undefined ? place.value : place.part(within.offset, within.length);
}
