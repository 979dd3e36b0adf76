/** Finds the position of a value in a parsed file: resolves a path of keys and indexes to ranges of the text. */
import type { Pair, Scalar, YAMLMap } from 'yaml';
import { isAlias, isMap, isScalar, isSeq } from 'yaml';
import type { NodePath } from '../diagnostics/problem.ts';
import type { Range } from '../text/source-text.ts';
import { START } from '../text/source-text.ts';
import type { YamlNode } from './build-value.ts';
import { isMergeKey, keyText, rangeOf } from './build-value.ts';
import type { ParsedFile } from './parse-yaml.ts';
import type { Part } from './scalar-part.ts';
import { ScalarMap } from './scalar-part.ts';

export interface Location {
  /** The value's key; null for list items and the root. */
  readonly key: Range | null;
  readonly value: Range;
  /** The last alias or merge key that the path passes through, or null. */
  readonly via: Range | null;
  /** Number of steps of the path that exist. The location is that of the last existing node. */
  readonly depth: number;
  /** The range of a part of a scalar's text; null if the value is not a scalar. */
  part(offset: number, length: number): Range | null;
}

/** Caches searches: a map of ten thousand routes, or a long prompt, is searched once, not once per problem. */
export class LocationIndex {
  readonly keys = new WeakMap<YAMLMap, ReadonlyMap<string, Pair>>();
  readonly scalars = new WeakMap<Scalar, ScalarMap>();
}

interface Step {
  readonly key: Range | null;
  readonly node: YamlNode | null;
  readonly via: Range | null;
}

/** Locates the node at a path, or its closest existing ancestor. */
export function locate(file: ParsedFile, path: NodePath, index: LocationIndex): Location {
  let step: Step = { key: null, node: file.root, via: null };
  let depth = 0;
  for (const part of path) {
    const next = descend(file, step, part, index);
    if (next === null) break;
    step = next;
    depth++;
  }
  const { key, node, via } = step;
  const value = node === null ? (key ?? START) : rangeOf(node);
  return { key, value, via, depth, part: (offset, length) => partOf(file, node, { offset, length }, index) };
}

function descend(file: ParsedFile, step: Step, part: string | number, index: LocationIndex): Step | null {
  const node = step.node === null ? null : follow(file, step.node);
  const via = step.node !== node && step.node !== null ? rangeOf(step.node) : step.via;
  if (isMap(node)) return findKey(file, node, String(part), { index, via });
  if (!isSeq(node)) return null;
  const item = node.items[Number(part)];
  return item === undefined ? null : { key: null, node: item as YamlNode | null, via };
}

interface Search {
  readonly index: LocationIndex;
  readonly via: Range | null;
}

/** The map's own pair, else that of a merged map; precedence is as in `buildValue`. */
function findKey(file: ParsedFile, map: YAMLMap, key: string, search: Search): Step | null {
  const pair = pairs(map, search.index).get(key);
  if (pair !== undefined) {
    return { key: rangeOf(pair.key as YamlNode), node: pair.value as YamlNode | null, via: search.via };
  }
  for (const merge of map.items.filter((item) => isMergeKey(item.key))) {
    const via = rangeOf(merge.key as YamlNode);
    const source = follow(file, merge.value as YamlNode);
    for (const item of isSeq(source) ? source.items : [source]) {
      const merged = follow(file, item as YamlNode);
      const found = isMap(merged) ? findKey(file, merged, key, { index: search.index, via }) : null;
      if (found !== null) return { ...found, via };
    }
  }
  return null;
}

function pairs(map: YAMLMap, index: LocationIndex): ReadonlyMap<string, Pair> {
  const known = index.keys.get(map);
  if (known !== undefined) return known;
  const found = new Map<string, Pair>();
  for (const pair of map.items) {
    const key = keyText(pair.key);
    if (!isMergeKey(pair.key) && !found.has(key)) found.set(key, pair);
  }
  index.keys.set(map, found);
  return found;
}

const follow = (file: ParsedFile, node: YamlNode): YamlNode =>
  isAlias(node) ? (file.aliases.get(node) ?? node) : node;

function partOf({ source }: ParsedFile, node: YamlNode | null, part: Part, { scalars }: LocationIndex): Range | null {
  if (!isScalar(node)) return null;
  const map = scalars.get(node) ?? new ScalarMap(source.text, node);
  scalars.set(node, map);
  return map.part(part);
}
