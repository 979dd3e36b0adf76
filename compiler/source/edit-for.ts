/** Converts fixes to text edits, for `lint --fix`. */

import type { TextEdit } from '../diagnostics/diagnostic.ts';
import type { Problem, Repair } from '../diagnostics/problem.ts';
import type { Range } from '../text/source-text.ts';
import { indentSiblings, listItems, moveKey, nestKey, replaceNode, unlistNamed } from './layout-edits.ts';
import type { NodePlace } from './source-tree.ts';

/** A node to fix. */
export interface RepairPlace extends NodePlace {
  /** The place of another key of the same map; null if the map itself does not have it. */
  sibling(key: string): NodePlace | null;
}

type Edits = readonly TextEdit[] | null;

/** Returns null if the written text differs from its value (an escape, a folded line) or its layout is unusual. */
export function editsFor(problem: Pick<Problem, 'at' | 'within'>, repair: Repair, place: RepairPlace): Edits {
  switch (repair.kind) {
    case 'nest':
      return nestKey(place, repair.under);
    case 'move': {
      const home = place.sibling(repair.into);
      return home === null ? null : moveKey(place, home);
    }
    case 'indent':
      return indentSiblings(place, repair.keys);
    case 'flow':
      return replaceNode(place, repair.text, repair.andKey);
    case 'items':
      return listItems(place, repair.items);
    case 'named-items':
      return unlistNamed(place);
    default: {
      const range = problem.at === 'key' ? place.key : partOf(problem, place);
      return range === null ? null : inPlace(repair, range, place.file.source.text);
    }
  }
}

function inPlace(repair: Extract<Repair, { kind: 'rename' | 'replace' | 'quote' }>, range: Range, text: string): Edits {
  const written = text.slice(range.start, range.end);
  if (repair.kind === 'quote') {
    if (/["\\\n]/.test(written)) return null;
    const { start, end } = range;
    return [
      { range: { start, end: start }, text: '"' },
      { range: { start: end, end }, text: '"' },
    ];
  }
  if (repair.kind === 'replace') return [{ range, text: repair.text }];
  const quote = /^["']/.exec(written)?.[0] ?? '';
  return [{ range, text: quote + repair.text + quote }];
}

function partOf({ within }: Pick<Problem, 'within'>, place: NodePlace): Range | null {
  return within === undefined ? place.value : place.part(within.offset, within.length);
}
