/** "Did you mean" for paths: finds paths with similar spelling, and paths with the same parts elsewhere. */

import type { DistanceRows } from '../../../../base/edit-distance.ts';
import { editDistance, extendRows, firstRows } from '../../../../base/edit-distance.ts';
import { printPath } from '../../../../base/paths.ts';
import { fold, isPlural, isSlip } from '../../../../compiler/text/suggest.ts';
import type { FormSet, Level, PathTree } from './form-set.ts';
import { createPathTree } from './form-set.ts';

const MAX_PATHS = 3;
/** One typo is allowed per this many letters, up to `MAX_ERRORS`. */
const LETTERS_PER_ERROR = 5;
const MAX_ERRORS = 3;
/** Maximum number of parts of an omitted prefix. */
const MAX_PREFIX_PARTS = 3;

type Path = readonly string[];

/** Returns at most three paths, most likely first. */
export function suggestPaths(set: FormSet, path: Path): readonly Path[] {
  return set.remember(`suggest ${printPath(path)}`, () => {
    const tree = treeOf(set);
    const inner = withoutWrapper(tree, path);
    if (inner.length > 0) return inner;
    const near = similar(tree, path);
    const abbreviations = abbreviated(tree, path);
    // An abbreviation of exactly one path means that path, even if other paths have the same end.
    if (near.length === 0 && abbreviations.length === 1) return abbreviations;
    const found = [...near, ...abbreviations, ...withoutPrefix(tree, path, set), ...oneOtherPart(tree, path)];
    return distinct(found).slice(0, MAX_PATHS);
  });
}

/**
 * The only path with one part that a slip has changed; null if there is none. A singular or plural may be another field, and
 * in a shape that may lack fields, so may any other ending: Stripe has `dispute` and `disputed`.
 */
export function slipOf(set: FormSet, path: Path): Path | null {
  const isOther = (part: string, name: string): boolean =>
    set.shape.complete ? isPlural(part, name) : part.startsWith(name) || name.startsWith(part);
  return set.remember(`slip ${path.join('.')}`, () => {
    const tree = treeOf(set);
    const isNear = (other: Path): boolean =>
      other.every((name, at) => name === path[at] || (isSlip(path[at] ?? '', name) && !isOther(path[at] ?? '', name)));
    const near = nearPaths(tree, path, 1).map((each) => each.path);
    const [found, other] = near.filter((each) => each.length === path.length && isNear(each));
    if (found !== undefined) return other === undefined ? found : null;
    // Filters call the payload so.
    const [inner] = path[0] === 'payload' && set.shape.complete ? withoutWrapper(tree, path) : [];
    return inner ?? null;
  });
}

/** Suggests the field that names an object, for an object where text is expected. Null if it has none. */
export function textBelow(set: FormSet, path: Path): Path | null {
  const tree = treeOf(set);
  const level = tree.below(tree.root, path);
  const children = tree.children(level);
  const name = NAMING.find((each) => tree.isLeaf(children.get(each) ?? []) && children.has(each));
  return name === undefined ? null : [...path, name];
}

/** Fields that usually identify an object, best first. */
const NAMING = [
  'full_name',
  'login',
  'username',
  'path_with_namespace',
  'name',
  'number',
  'iid',
  'key',
  'title',
  'email',
  'id',
];

export const treeOf = (set: FormSet): PathTree =>
  set.remember('tree', () =>
    createPathTree(
      set.shape.graph,
      set.forms.map(({ root }) => root),
    ),
  );

function similar(tree: PathTree, path: Path): readonly Path[] {
  const length = path.join('.').length;
  const most = Math.min(MAX_ERRORS, Math.max(1, Math.floor(length / LETTERS_PER_ERROR)));
  for (let limit = 1; limit <= most; limit++) {
    const found = nearPaths(tree, path, limit);
    if (found.length > 0)
      return [...found]
        .sort((a, b) => rank(a.path, path) - rank(b.path, path) || byText(a.path, b.path))
        .map((each) => each.path);
  }
  return [];
}

/** Orders paths of equal distance by the difference in parts, then in length. */
const rank = (found: Path, wanted: Path): number =>
  Math.abs(found.length - wanted.length) * 100 + Math.abs(found.join('.').length - wanted.join('.').length);

/** Expands abbreviations: `repository.name` for `repo.name`, `pull_request.title` for `pr.title`. */
function abbreviated(tree: PathTree, path: Path): readonly Path[] {
  let reached: readonly (readonly [Path, Level])[] = [[[], tree.root]];
  for (const part of path) {
    reached = reached.flatMap(([before, level]) =>
      [...tree.children(level)].flatMap(([name, child]) =>
        name === part || abbreviates(part, name) ? [[[...before, name], child] as const] : [],
      ),
    );
  }
  return reached.map(([found]) => found).sort((a, b) => byLength(a, b));
}

const MIN_ABBREVIATION = 3;

function abbreviates(part: string, name: string): boolean {
  if (part.length >= MIN_ABBREVIATION && name.startsWith(part)) return true;
  const words = name.split(/[_-]/);
  return words.length > 1 && words.map((word) => word[0]).join('') === part;
}

/** Names of the payload itself in other tools. */
const WRAPPERS: ReadonlySet<string> = new Set(['payload', 'body', 'event', 'data', 'json', 'request', '$json']);

/** Suggests `action` for `payload.action`. */
const withoutWrapper = (tree: PathTree, [first = '', ...rest]: Path): readonly Path[] =>
  rest.length > 0 && WRAPPERS.has(first) && tree.below(tree.root, rest).length > 0 ? [rest] : [];

/** Suggests `pull_request.head.ref` for `head.ref`: the shortest prefixes, sorted by the number of forms that have the path. */
function withoutPrefix(tree: PathTree, path: Path, set: FormSet): readonly Path[] {
  const event = set.forms[0]?.event ?? '';
  const formsWith = (prefix: Path): number =>
    set.find([...prefix, ...path]).filter(({ kind }) => kind !== 'absent').length;
  let prefixes: readonly (readonly [Path, Level])[] = [[[], tree.root]];
  for (let depth = 1; depth <= MAX_PREFIX_PARTS; depth++) {
    prefixes = prefixes.flatMap(([before, level]) =>
      [...tree.children(level)].map(([name, child]) => [[...before, name], child] as const),
    );
    const found = prefixes.flatMap(([prefix, level]) =>
      tree.below(level, path).length > 0 ? [{ path: [...prefix, ...path], forms: formsWith(prefix) }] : [],
    );
    if (found.length === 0) continue;
    return found
      .sort((a, b) => b.forms - a.forms || subject(event, b.path) - subject(event, a.path) || byLength(a.path, b.path))
      .map((each) => each.path);
  }
  return [];
}

/** Position of the object's name in that of the event; later is better: `issue_comment` is about a comment, on an issue. */
const subject = (event: string, [first = '']: Path): number => event.toLowerCase().lastIndexOf(first.toLowerCase());

/** Suggests `pull_request.user.login` for `pull_request.author.login`. The last part must be equal. */
function oneOtherPart(tree: PathTree, path: Path): readonly Path[] {
  const found = path.slice(0, -1).flatMap((part, index) => {
    const before = path.slice(0, index);
    const behind = path.slice(index + 1);
    return [...tree.children(tree.below(tree.root, before))].flatMap(([name, child]) =>
      tree.below(child, behind).length > 0
        ? [{ path: [...before, name, ...behind], distance: editDistance(part, name, part.length + name.length) }]
        : [],
    );
  });
  return found.sort((a, b) => a.distance - b.distance || byLength(a.path, b.path)).map((each) => each.path);
}

function distinct(paths: readonly Path[]): readonly Path[] {
  const seen = new Set<string>();
  return paths.filter((path) => !seen.has(printPath(path)) && seen.add(printPath(path)));
}

const byLength = (a: Path, b: Path): number => a.join('.').length - b.join('.').length || byText(a, b);

const byText = (a: Path, b: Path): number => (a.join('.') < b.join('.') ? -1 : 1);

/** Finds paths with a small edit distance to a given path. The search abandons a branch once its distance exceeds the limit. */
interface NearPath {
  readonly path: readonly string[];
  /** The number of insertions, deletions, substitutions and transpositions. */
  readonly distance: number;
}

/** Returns all paths with a distance of at most `limit`, unsorted. */
function nearPaths(tree: PathTree, path: readonly string[], limit: number): readonly NearPath[] {
  const wanted = fold(path.join('.'));
  const found: NearPath[] = [];
  const visit = (level: Level, rows: DistanceRows, parts: readonly string[]): void => {
    for (const [name, child] of tree.children(level)) {
      const text = parts.length === 0 ? name : `.${name}`;
      const next = extendRows(rows, fold(text), wanted, limit);
      if (next === null) continue;
      const below = [...parts, name];
      const distance = next.row.at(-1) ?? limit + 1;
      if (distance <= limit) found.push({ path: below, distance });
      visit(child, next, below);
    }
  };
  visit(tree.root, firstRows(wanted), []);
  return found;
}
