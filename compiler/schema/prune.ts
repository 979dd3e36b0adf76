/** Takes the entries with faults of shape out of the data, so that everything else can still be checked in the same run. */
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import { isPlainMap, setOwn } from '../source/plain-map.ts';

/** How many keys lead to an entry that stands or falls as a whole, by the keys before it; the longest match counts. */
const ENTRY_DEPTHS: readonly { readonly under: NodePath; readonly depth: number }[] = [
  { under: ['platforms', 'webhook', 'extra', 'routes'], depth: 5 },
  { under: ['platforms', 'webhook', 'routes'], depth: 4 },
  { under: ['platforms', 'webhook', 'extra'], depth: 4 },
  { under: ['platforms', 'webhook'], depth: 3 },
  { under: ['platforms'], depth: 2 },
  { under: ['platform_toolsets'], depth: 2 },
  { under: ['jobs'], depth: 2 },
  { under: ['sources'], depth: 2 },
  { under: ['gateway'], depth: 2 },
  { under: [], depth: 1 },
];

/** The entry a problem makes unusable: a route, a job, a target, a source, else one setting. */
export function entryPath(path: NodePath): NodePath {
  const found = ENTRY_DEPTHS.find(({ under }) => under.every((key, index) => path[index] === key));
  return path.slice(0, found?.depth ?? 1);
}

/** A tree of keys to leave out; a leaf is empty. */
type Cut = Map<string, Cut>;

export interface Pruned {
  readonly value: Readonly<Record<string, unknown>>;
  /** Paths of the entries that were taken out, each once. */
  readonly removed: readonly NodePath[];
}

/** Copies only the maps on the way to a removed entry, each once. */
export function pruneEntries(value: Readonly<Record<string, unknown>>, problems: readonly Problem[]): Pruned {
  const removed = new Map<string, NodePath>();
  const cut: Cut = new Map();
  for (const problem of problems) {
    const path = entryPath(problem.path);
    if (removed.has(JSON.stringify(path)) || path.length === 0) continue;
    removed.set(JSON.stringify(path), path);
    mark(cut, path);
  }
  return { value: without(value, cut), removed: [...removed.values()] };
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
  const kept: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(map)) {
    const below = cut.get(key);
    if (below === undefined) setOwn(kept, key, value);
    else if (below.size > 0 && isPlainMap(value)) setOwn(kept, key, without(value, below));
  }
  return kept;
}
