/** Removes entries that do not match the schema, so that everything else can still be checked in the same run. */
import { groupBy } from '../../base/group-by.ts';
import { routeKey } from '../config/route-keys.ts';
import { ENTRY_MAPS } from '../config/settings.ts';
import type { NodePath, Problem } from '../diagnostics/diagnostic.ts';
import { isPlainMap, setOwn } from '../text/plain-data.ts';
import { guessKey } from './known-keys.ts';
import type { FileTypes } from './validate.ts';
import { faultyPaths } from './validate.ts';

/** The path of the entry that a problem makes unusable: a route, a job, a target, a source, or else one setting. */
function entryPath(path: NodePath): NodePath {
  const depth = path.findIndex((_, index) => !ENTRY_MAPS.has(path.slice(0, index + 1).join('.')));
  return depth < 0 ? path : path.slice(0, depth + 1);
}

/** A tree of keys to remove; leaves are empty. */
type Cut = Map<string, Cut>;

interface Pruned {
  readonly value: Readonly<Record<string, unknown>>;
  /** Paths of the removed entries, without duplicates. */
  readonly removed: readonly NodePath[];
  /** Paths of routes from which only a misspelt key was removed. It may be a key that they seem to lack. */
  readonly misspelt: readonly NodePath[];
}

/** Copies only the maps on the paths to removed entries. */
export function pruneEntries(
  schema: keyof FileTypes,
  value: Readonly<Record<string, unknown>>,
  problems: readonly Problem[],
): Pruned {
  const entries = groupBy(problems, ({ path }) => JSON.stringify(entryPath(path)));
  const removed: NodePath[] = [];
  const misspelt: NodePath[] = [];
  const cut: Cut = new Map();
  for (const found of entries.values()) {
    const path = entryPath(found[0]?.path ?? []);
    const isMisspelt = found.every((problem) => losesOneKey(schema, problem, path));
    (isMisspelt ? misspelt : removed).push(path);
    for (const lost of isMisspelt ? found.map((problem) => problem.path) : [path]) mark(cut, lost);
  }
  const remaining = without(value, cut);
  return { value: problems.length === 0 ? remaining : withoutFaults(schema, remaining, removed), removed, misspelt };
}

/** Removes entries without a problem that were treated as a consequence of another one. */
function withoutFaults(schema: keyof FileTypes, value: Pruned['value'], removed: NodePath[]): Pruned['value'] {
  const cut: Cut = new Map();
  const entries = faultyPaths(schema, value).map(entryPath);
  for (const path of entries) mark(cut, path);
  if (cut.size === 0) return value;
  removed.push(...entries);
  return withoutFaults(schema, without(value, cut), removed);
}

/** Whether only one key has to be removed: an unknown key of a route that resembles no known key or an independent one. */
function losesOneKey(schema: keyof FileTypes, { rule, path }: Problem, entry: NodePath): boolean {
  if (rule !== 'unknown-key' || entry.at(-2) !== 'routes' || path.length !== entry.length + 1) return false;
  const guess = guessKey(schema, path);
  return guess === null || routeKey(guess)?.isAlone === true;
}

function mark(cut: Cut, path: NodePath): void {
  let at = cut;
  for (const part of path) {
    const next = at.get(String(part)) ?? new Map();
    at.set(String(part), next);
    at = next;
  }
}

function without(map: Readonly<Record<string, unknown>>, cut: Cut): Readonly<Record<string, unknown>> {
  if (cut.size === 0) return map;
  const remaining: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(map)) {
    const below = cut.get(key);
    if (below === undefined) setOwn(remaining, key, value);
    else if (below.size > 0 && isPlainMap(value)) setOwn(remaining, key, without(value, below));
  }
  return remaining;
}
