/**
 * Converts YAML nodes to plain data: resolves aliases and merge keys, and rejects duplicate keys, cyclic aliases and
 * exponential expansion. Aliases share one object with their anchor, so building is linear in the text. Validation visits
 * aliased values repeatedly, so their expanded size is counted and limited.
 */

import type { Alias, Node, Scalar, YAMLMap, YAMLSeq } from 'yaml';
import { isAlias, isMap, isScalar, isSeq } from 'yaml';
import { isBeyond } from '../config/written-numbers.ts';
import type { Finding } from '../diagnostics/diagnostic.ts';
import type { RuleId } from '../diagnostics/rule.ts';
import { isPlainMap, setOwn } from '../text/plain-data.ts';
import type { Range, SourceText } from '../text/source-text.ts';

export type YamlNode = Node;

/** The anchored node of each alias. */
export type AliasTargets = ReadonlyMap<Alias, YamlNode>;

/** Maximum number of values that aliases and merge keys may add to a file. */
const MAX_EXPANSION = 1_000_000;
/** Deeper than any real config, and far from a stack overflow. */
const MAX_DEPTH = 200;

const MERGE_KEY = '<<';

interface BuiltValue {
  readonly value: unknown;
  readonly aliases: AliasTargets;
  readonly findings: readonly Finding[];
  /** The value is incomplete. */
  readonly fatal: boolean;
}

interface Sized {
  readonly value: unknown;
  /** Number of values in it, with aliases expanded. */
  readonly size: number;
}

interface Anchor {
  readonly node: YamlNode;
  /** Null while the anchored node is being built; an alias to it is then a cycle. */
  built: Sized | null;
}

interface Builder {
  readonly source: SourceText;
  readonly anchors: Map<string, Anchor>;
  readonly aliases: Map<Alias, YamlNode>;
  readonly findings: Finding[];
  expansion: number;
  fatal: boolean;
}

/** Returns the data, the anchors of its aliases, and findings. An empty document is an empty map. */
export function buildValue(source: SourceText, root: YamlNode | null): BuiltValue {
  const builder: Builder = { source, anchors: new Map(), aliases: new Map(), findings: [], expansion: 0, fatal: false };
  const { value } = root === null ? { value: {} } : build(builder, root, 0);
  return { value, aliases: builder.aliases, findings: builder.findings, fatal: builder.fatal };
}

/** @param key of the map that the value is in */
function build(builder: Builder, node: unknown, depth: number, key = ''): Sized {
  if (isAlias(node)) return buildAlias(builder, node);
  if (builder.fatal || (!isMap(node) && !isSeq(node) && !isScalar(node))) return { value: null, size: 1 };
  if (depth > MAX_DEPTH) return fail(builder, 'yaml-syntax', node, `nested deeper than ${MAX_DEPTH} levels`);
  const anchor: Anchor | null = node.anchor === undefined ? null : { node, built: null };
  if (anchor !== null && node.anchor !== undefined) builder.anchors.set(node.anchor, anchor);
  const built = isMap(node)
    ? buildMap(builder, node, depth)
    : isSeq(node)
      ? buildList(builder, node, depth)
      : { value: scalarValue(builder, node, key), size: 1 };
  if (anchor !== null) anchor.built = built;
  return built;
}

function buildAlias(builder: Builder, alias: Alias): Sized {
  const anchor = builder.anchors.get(alias.source);
  if (anchor === undefined)
    return fail(builder, 'yaml-alias', alias, `there is no anchor \`&${alias.source}\` before this alias`);
  if (anchor.built === null) return fail(builder, 'yaml-alias', alias, `\`*${alias.source}\` contains itself`);
  builder.aliases.set(alias, anchor.node);
  expand(builder, alias, anchor.built.size);
  return anchor.built;
}

function buildList(builder: Builder, node: YAMLSeq, depth: number): Sized {
  let size = 1;
  const value = node.items.map((item) => {
    const built = build(builder, item, depth + 1);
    size += built.size;
    return built.value;
  });
  return { value, size };
}

function buildMap(builder: Builder, node: YAMLMap, depth: number): Sized {
  const value: Record<string, unknown> = {};
  const merged: unknown[] = [];
  const keys = new Map<string, Range>();
  let size = 1;
  for (const pair of node.items) {
    const key = keyText(pair.key);
    const built = build(builder, pair.value, depth + 1, key);
    size += built.size;
    if (isMergeKey(pair.key)) {
      merged.push(...mergeSources(builder, pair.value as YamlNode, built.value));
      continue;
    }
    const first = keys.get(key);
    const range = rangeOf(pair.key as YamlNode);
    if (first !== undefined) {
      const related = [{ source: builder.source, range: first, message: 'the key is first set here' }];
      const message = `the key \`${key}\` is set twice in one map`;
      builder.findings.push({ rule: 'duplicate-key', source: builder.source, range, message, related });
      continue;
    }
    keys.set(key, range);
    for (const cut of templatesAt(key, pair.value)) findCut(builder, cut);
    setOwn(value, key, built.value);
  }
  for (const source of merged) size += mergeInto(builder, node, value, source as Record<string, unknown>);
  return { value, size };
}

/** The maps that a `<<` merges, in order of precedence. */
function mergeSources(builder: Builder, node: YamlNode, value: unknown): readonly unknown[] {
  const list = Array.isArray(value) ? value : [value];
  if (builder.fatal || list.every(isPlainMap)) return list.filter(isPlainMap);
  fail(builder, 'yaml-alias', node, '`<<` needs a map or a list of maps');
  return [];
}

/** Adds the keys that the map does not define itself. Returns the number of added values. */
function mergeInto(
  builder: Builder,
  node: YamlNode,
  value: Record<string, unknown>,
  from: Record<string, unknown>,
): number {
  let added = 0;
  for (const key of Object.keys(from)) {
    added += 1;
    if (!Object.hasOwn(value, key)) setOwn(value, key, from[key]);
  }
  expand(builder, node, added);
  return added;
}

/** Keys whose values are templates, and keys of maps of templates. */
const TEMPLATES: ReadonlySet<string> = new Set(['prompt', 'session_key', 'key', 'each', 'body', 'fresh']);
const TEMPLATE_MAPS: ReadonlySet<string> = new Set(['deliver_extra', 'outputs']);

function templatesAt(key: string, value: unknown): readonly unknown[] {
  if (isScalar(value)) return TEMPLATES.has(key) ? [value] : [];
  return isMap(value) && TEMPLATE_MAPS.has(key)
    ? value.items.flatMap((pair) => (isScalar(pair.value) ? [pair.value] : templatesAt(key, pair.value)))
    : [];
}

/** A comment after a text without quotes that holds a placeholder. */
const CUT = /[ \t]*#[^\n]*\{\s*["\w@$.[][^\n]*/y;

function findCut({ source, findings }: Builder, node: unknown): void {
  if (!isScalar(node) || node.type !== 'PLAIN' || typeof node.value === 'number') return;
  const { start, end } = rangeOf(node);
  CUT.lastIndex = end;
  const [comment] = CUT.exec(source.text) ?? [];
  if (comment === undefined) return;
  const text = `${source.text.slice(start, end)}${comment}`.trim();
  const from = end + comment.length - comment.trimStart().length;
  const range = { start: start === end ? from : start, end: end + comment.trimEnd().length };
  const message = `the text ends before \`#\`, where a YAML comment begins: put \`${text}\` in quotes`;
  findings.push({ rule: 'template-cut', source, range, message });
}

/** A value between typographic quotes, as word processors and chat programs insert them. */
const CURLY_QUOTED = /^[“”„‟][^“”„‟]*[“”‟]$|^[‘’‚‛][^‘‚‛]*[‘’‛]$/;

/** Keys of numbers, which the schema checks; lowering reads the written text (written-numbers.ts). */
const BOUNDS: ReadonlySet<string> = new Set(['gt', 'gte', 'lt', 'lte']);

/** A number that JavaScript cannot hold becomes text: chat ids of some services are that long. */
function scalarValue(builder: Builder, node: Scalar, key: string): unknown {
  const { value } = node;
  if (typeof value === 'string' && node.type === 'PLAIN' && CURLY_QUOTED.test(value)) {
    const message = `${value.at(0)}…${value.at(-1)} are not YAML quotes and become part of the text`;
    const hint = 'use straight quotes';
    builder.findings.push({ rule: 'curly-quotes', source: builder.source, range: rangeOf(node), message, hint });
  }
  if (typeof value !== 'number') return value;
  if (node.source !== undefined && isBeyond(node.source))
    return BOUNDS.has(key) ? Math.max(-Number.MAX_VALUE, Math.min(value, Number.MAX_VALUE)) : node.source;
  if (Number.isFinite(value)) return value;
  const message = `\`${node.source ?? value}\` is not a supported number`;
  builder.findings.push({ rule: 'invalid-number', source: builder.source, range: rangeOf(node), message });
  return 0;
}

function expand(builder: Builder, node: YamlNode, size: number): void {
  builder.expansion += size;
  if (builder.expansion <= MAX_EXPANSION || builder.fatal) return;
  const message = `aliases expand this file to more than ${MAX_EXPANSION} values`;
  fail(builder, 'yaml-alias', node, message);
}

function fail(builder: Builder, rule: RuleId, node: YamlNode, message: string): Sized {
  if (!builder.fatal) builder.findings.push({ rule, source: builder.source, range: rangeOf(node), message });
  builder.fatal = true;
  return { value: null, size: 1 };
}

export const isMergeKey = (key: unknown): boolean => isScalar(key) && key.type === 'PLAIN' && key.value === MERGE_KEY;

export const keyText = (key: unknown): string => (isScalar(key) ? String(key.value) : String(key));

/** The range from the node's first character, after its anchor and tag, to the end of its value. */
export function rangeOf(node: YamlNode): Range {
  const [start, end] = node.range ?? [0, 0];
  return { start, end };
}
