/**
 * Finds the position of a value in a parsed file: a path of keys and indexes becomes a range of the text, also inside a
 * quoted value.
 */
import type { Pair, Scalar, YAMLMap } from 'yaml';
import { isAlias, isMap, isScalar, isSeq } from 'yaml';
import type { NodePath } from '../diagnostics/diagnostic.ts';
import type { Range } from '../text/source-text.ts';
import { START } from '../text/source-text.ts';
import type { YamlNode } from './build-value.ts';
import { isMergeKey, keyText, rangeOf } from './build-value.ts';
import type { ParsedFile } from './parse-yaml.ts';

/** Finds the position of a value in a parsed file: resolves a path of keys and indexes to ranges of the text. */
export interface Location {
  /** The value's key; null for list items and the root. */
  readonly key: Range | null;
  readonly value: Range;
  /** The last alias or merge key that the path passes through, or null. */
  readonly via: Range | null;
  /** Number of steps of the path that exist. The location is that of the last existing node. */
  readonly depth: number;
  /** The text of a scalar without quotes or tag, as written; null for any other value. */
  readonly plain: string | null;
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
  const plain = node === null || depth < path.length ? null : plainText(follow(file, node));
  return { key, value, via, depth, plain, part: (offset, length) => partOf(file, node, { offset, length }, index) };
}

const plainText = (node: YamlNode): string | null =>
  isScalar(node) && node.type === 'PLAIN' && node.tag === undefined ? (node.source ?? null) : null;

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

function partOf(
  { source }: ParsedFile,
  node: YamlNode | null,
  part: TextPart,
  { scalars }: LocationIndex,
): Range | null {
  if (!isScalar(node)) return null;
  const map = scalars.get(node) ?? new ScalarMap(source.text, node);
  scalars.set(node, map);
  return map.part(part);
}

/*
 * Maps a part of a scalar's value to its range in the file, so that a diagnostic can point into a prompt.
 * Quoting escapes characters and folding changes white space, but neither adds, removes or reorders visible characters. So
 * the n-th visible character of the value is the n-th visible character of the text.
 */

interface TextPart {
  /** In UTF-16 code units of the decoded value. */
  readonly offset: number;
  readonly length: number;
}

/** Maps offsets of one scalar. Created once per scalar, because a prompt may have a problem on every line. */
class ScalarMap {
  private readonly start: number;
  /** Range in the file, by visible character. */
  private readonly units: readonly Range[];
  /** Number of preceding visible characters, by UTF-16 code unit of the decoded value. */
  private readonly before: Uint32Array;

  constructor(text: string, node: Scalar) {
    const [start, end] = node.range ?? [0, 0];
    this.start = start;
    this.units = (SCANNERS[String(node.type)] ?? block)(text.slice(start, end));
    this.before = visibleBefore(typeof node.value === 'string' ? node.value : (node.source ?? ''));
  }

  /** Returns null if the part cannot be mapped: it is only white space, or follows an unusual escape. */
  part({ offset, length }: TextPart): Range | null {
    const before = this.countBefore(offset);
    const inside = this.countBefore(offset + length) - before;
    const first = this.units[before];
    const last = this.units[before + Math.max(inside, 1) - 1];
    if (first === undefined || last === undefined) return null;
    return { start: this.start + first.start, end: this.start + last.end };
  }

  private countBefore(offset: number): number {
    return this.before[Math.min(offset, this.before.length - 1)] ?? 0;
  }
}

function visibleBefore(text: string): Uint32Array {
  const counts = new Uint32Array(text.length + 1);
  for (let at = 0, count = 0; at < text.length; at++) {
    if (!/\s/.test(text.charAt(at))) count++;
    counts[at + 1] = count;
  }
  return counts;
}

const countVisible = (text: string): number => text.replace(/\s+/g, '').length;

type Scanner = (raw: string) => readonly Range[];

const SCANNERS: Readonly<Record<string, Scanner>> = {
  PLAIN: (raw) => scan(raw, /\S/g),
  QUOTE_SINGLE: (raw) => inner(raw, /''|\S/g),
  QUOTE_DOUBLE: (raw) => inner(raw, /\\(?:x..|u.{4}|U.{8}|\r?\n|.)|\S/g),
  BLOCK_LITERAL: block,
  BLOCK_FOLDED: block,
};

function scan(raw: string, unit: RegExp, base = 0): readonly Range[] {
  return [...raw.matchAll(unit)].flatMap((match) => {
    const start = base + match.index;
    return Array<Range>(visibleLength(match[0])).fill({ start, end: start + match[0].length });
  });
}

/** Number of visible UTF-16 code units that one written character stands for. */
function visibleLength(piece: string): number {
  if (!piece.startsWith('\\') || piece.length === 1) return 1;
  if (/^\\[xuU]/.test(piece)) return countVisible(String.fromCodePoint(Number.parseInt(piece.slice(2), 16) || 0));
  return /^\\[\s tnvfr_LP]/.test(piece) ? 0 : 1;
}

/** Ranges of the characters between quotes. */
function inner(raw: string, unit: RegExp): readonly Range[] {
  return scan(raw.slice(1, -1), unit, 1);
}

/** Ranges of the characters below a block header (`|`, `>-`, …). */
function block(raw: string): readonly Range[] {
  const body = raw.indexOf('\n') + 1;
  return scan(raw.slice(body), /\S/g, body);
}
