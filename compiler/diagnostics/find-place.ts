/** Turns problems, which speak of paths, into findings, which speak of places in files. */
import type { Range } from '../source/source-text.ts';
import type { Place, SourceTree } from '../source/source-tree.ts';
import type { Finding, RelatedPlace } from './diagnostic.ts';
import type { NodePath, Problem } from './problem.ts';

/** @param base path of the entry the problem's own path starts from. */
export function findPlace(problem: Problem, tree: Pick<SourceTree, 'place'>, base: NodePath = []): Finding {
  const path = [...base, ...problem.path];
  const place = tree.place(path);
  const related = (problem.related ?? []).map((other) => relatedPlace(tree, [...base, ...other.path], other.message));
  return {
    rule: problem.rule,
    source: place.file.source,
    range: rangeFor(problem, place, path),
    message: problem.message,
    ...(problem.hint === undefined ? {} : { hint: problem.hint }),
    ...(problem.sensitive === true ? { sensitive: true } : {}),
    related: [...related, ...viaPlace(place)],
  };
}

function rangeFor(problem: Problem, place: Place, path: NodePath): Range {
  const exists = place.depth === path.length;
  const part = exists && problem.within !== undefined ? place.part(problem.within.offset, problem.within.length) : null;
  if (part !== null) return part;
  const isEmpty = place.value.end <= place.value.start;
  return problem.at === 'value' && exists && !isEmpty ? place.value : keyOrStart(place);
}

/** A list item has no key: its first character stands for it. */
const keyOrStart = ({ key, value }: Place): Range => key ?? { start: value.start, end: value.start };

function relatedPlace(tree: Pick<SourceTree, 'place'>, path: NodePath, message: string): RelatedPlace {
  const place = tree.place(path);
  return { source: place.file.source, range: keyOrStart(place), message };
}

/** What an alias or a merge key brought in is shown where it is written, and where it is used. */
const viaPlace = (place: Place): readonly RelatedPlace[] =>
  place.via === null ? [] : [{ source: place.file.source, range: place.via, message: 'it is used here' }];
