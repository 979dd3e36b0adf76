/** Converts problems, which have paths, to findings, which have positions in files. */

import type { Finding, RelatedPlace } from '../diagnostics/diagnostic.ts';
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import type { Range } from '../text/source-text.ts';
import type { Places } from './file-tree.ts';
import type { NodePlace } from './source-tree.ts';

/** A finding about a node of a file. */
export interface NodeFinding extends Finding {
  readonly node: { readonly problem: Problem; readonly tree: Places; readonly base: NodePath };
}

/** @param base path of the entry that the problem's path is relative to */
export function findPlace(problem: Problem, tree: Places, base: NodePath = []): NodeFinding {
  const path = [...base, ...problem.path];
  const place = tree.place(path);
  const related = (problem.related ?? []).map(({ path: below, within, message }): RelatedPlace => {
    const other = tree.place([...base, ...below]);
    const part = within === undefined ? null : other.part(within.offset, within.length);
    return { source: other.file.source, range: part ?? keyOrStart(other), message };
  });
  return {
    rule: problem.rule,
    source: place.file.source,
    range: rangeFor(problem, place, path),
    message: problem.message,
    ...(problem.hint === undefined ? {} : { hint: problem.hint }),
    ...(problem.sensitive === true ? { sensitive: true } : {}),
    related: [...related, ...viaPlace(place)],
    node: { problem, tree, base },
  };
}

/** The range is the key, the value, or a part of the value. What is masked is masked as a whole. */
function rangeFor(problem: Problem, place: NodePlace, path: NodePath): Range {
  const exists = place.depth === path.length;
  const isEmpty = place.value.end <= place.value.start;
  if (problem.at === 'key' || !exists || isEmpty) return keyOrStart(place);
  if (problem.within === undefined || problem.sensitive === true) return place.value;
  return place.part(problem.within.offset, problem.within.length) ?? place.value;
}

/** A list item has no key, so the position of its first character is used. */
const keyOrStart = ({ key, value }: NodePlace): Range => key ?? { start: value.start, end: value.start };

/** For a value reached through an alias or merge key, the position where it is used. */
const viaPlace = (place: NodePlace): readonly RelatedPlace[] =>
  place.via === null ? [] : [{ source: place.file.source, range: place.via, message: 'it is used here' }];
