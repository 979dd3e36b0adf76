/** Fixes that move or indent text, with its comments. */

import type { TextEdit } from '../diagnostics/diagnostic.ts';
import type { Range } from '../text/source-text.ts';
import type { NodePlace } from './source-tree.ts';

/** Indentation of one level. */
const STEP = '  ';

type Edits = readonly TextEdit[] | null;

/** Replaces `key: value` with nested keys `a:`, `b:` and so on; the value goes below the last of them. */
export function nestKey({ key, value, file }: NodePlace, under: readonly [string, ...string[]]): Edits {
  const { text } = file.source;
  if (key === null) return null;
  const indent = indentOf(text, key.start);
  if (indent === null) return wrapFlow(text, { key, value }, under);
  const names = under.map((name, depth) => (depth === 0 ? name : `\n${indent}${STEP.repeat(depth)}${name}`)).join(':');
  const end = Math.max(key.end, value.end);
  return [{ range: key, text: names }, ...deeper(text, { start: key.end, end }, STEP.repeat(under.length - 1))];
}

/** Moves a key and its value to the end of another map. Both maps must be in block style. */
export function moveKey({ key, value, file }: NodePlace, home: NodePlace): Edits {
  const { text } = file.source;
  const own = key === null ? null : indentOf(text, key.start);
  const indent = indentOf(text, home.value.start);
  if (key === null || own === null || indent === null || home.file !== file || indent.length <= own.length) return null;
  const from = withCommentsAbove(text, key.start - own.length);
  const to = nextLine(text, { start: key.start, end: Math.max(key.end, value.end) });
  const place = nextLine(text, home.value);
  const lines = text.slice(from, to).trimEnd().split('\n');
  const moved = lines.map((line) => (line.trim() === '' ? line : indent.slice(own.length) + line)).join('\n');
  if (place === from) return [{ range: { start: from, end: to }, text: text.endsWith('\n') ? `${moved}\n` : moved }];
  const removal = { range: { start: from, end: to }, text: '' };
  const insertion = { range: at(place), text: text[place - 1] === '\n' ? `${moved}\n` : `\n${moved}` };
  return place < from ? [insertion, removal] : [removal, insertion];
}

/** The start of a line, or of the comments directly above it. */
function withCommentsAbove(text: string, lineStart: number): number {
  let from = lineStart;
  while (from > 0) {
    const previous = text.lastIndexOf('\n', from - 2) + 1;
    if (!/^ *#/.test(text.slice(previous, from))) return from;
    from = previous;
  }
  return from;
}

/** The start of the line after the range, or the end of the text. */
function nextLine(text: string, range: Range): number {
  const end = text.indexOf('\n', trimmed(text, range).end);
  return end < 0 ? text.length : end + 1;
}

/** Nests a key of a map on one line: `a: { b: { key: value } }`. */
function wrapFlow(
  text: string,
  { key, value }: Pick<NodePlace, 'value'> & { key: Range },
  under: readonly string[],
): Edits {
  if (text.slice(key.start, value.end).includes('\n')) return null;
  return [
    { range: key, text: under.join(': { ') },
    { range: at(value.end), text: ' }'.repeat(under.length - 1) },
  ];
}

/** Indents the siblings that follow an empty key, so that they become its value. */
export function indentSiblings(
  place: NodePlace & { sibling(key: string): NodePlace | null },
  keys: readonly string[],
): Edits {
  const { key, file } = place;
  const { text } = file.source;
  if (key === null || indentOf(text, key.start) === null) return null;
  let end = key.end;
  for (const name of keys) {
    const sibling = place.sibling(name);
    if (sibling === null || sibling.file !== file || sibling.key === null || sibling.key.start < end) return null;
    end = Math.max(sibling.key.end, sibling.value.end);
  }
  // The empty edit at the key makes its line part of the shown result.
  return [{ range: at(key.start), text: '' }, ...deeper(text, { start: key.end, end }, STEP)];
}

/** Replaces a value. @param andKey a key and its value to add after it in the same map */
export function replaceNode({ key, value: written, file }: NodePlace, replacement: string, andKey?: string): Edits {
  const { text } = file.source;
  const range = trimmed(text, written);
  if (hasComment(text, range)) return null;
  // A block below the key becomes a value on the key's line.
  const isBelow = key !== null && /^:\s*\n\s*$/.test(text.slice(key.end, range.start));
  const place = isBelow ? { start: key.end, end: range.end } : range;
  const value = isBelow ? `: ${replacement}` : replacement;
  if (andKey === undefined) return [{ range: place, text: value }];
  const indent = key === null ? null : indentOf(text, key.start);
  return [{ range: place, text: indent === null ? `${value}, ${andKey}` : `${value}\n${indent}${andKey}` }];
}

/** A replacement would delete the comment. */
const hasComment = (text: string, { start, end }: Range): boolean => /(?:^|\s)#/.test(text.slice(start, end));

/** Replaces a map or list with a list of these items, in flow or block style as before. */
export function listItems({ value, file }: NodePlace, items: readonly string[]): Edits {
  const range = trimmed(file.source.text, value);
  const written = file.source.text.slice(range.start, range.end);
  if (hasComment(file.source.text, range)) return null;
  if (/^[{[]/.test(written)) return [{ range, text: `[${items.join(', ')}]` }];
  const indent = indentOf(file.source.text, range.start);
  return indent === null ? null : [{ range, text: items.map((item) => `- ${item}`).join(`\n${indent}`) }];
}

/** Replaces `- name: x` with `x:` at the start of each list item. */
export function unlistNamed({ value, file }: NodePlace): Edits {
  const { text } = file.source;
  const indent = indentOf(text, value.start);
  if (indent === null || text[value.start] !== '-') return null;
  const edits: TextEdit[] = [];
  for (const line of linesIn(text, { start: value.start - indent.length, end: value.end })) {
    const written = text.slice(line.start, line.end);
    if (!written.startsWith(`${indent}-`)) continue;
    const named = /^- {1,3}name:\s+(["']?)([a-z0-9][a-z0-9_-]{0,63})\1[ \t]*$/.exec(written.slice(indent.length));
    if (named === null) return null;
    edits.push({ range: { start: line.start + indent.length, end: line.end }, text: `${named[2]}:` });
  }
  return edits;
}

/** The indentation before an offset, or null if it is not the first text on its line. */
function indentOf(text: string, offset: number): string | null {
  const before = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  return /^ *$/.test(before) ? before : null;
}

/** Indents each non-blank line that begins in the range. */
const deeper = (text: string, range: Range, indent: string): readonly TextEdit[] =>
  linesIn(text, trimmed(text, range))
    .slice(1)
    .filter(({ start, end }) => text.slice(start, end).trim() !== '')
    .map(({ start }) => ({ range: at(start), text: indent }));

/** The lines of a range; the first one starts where the range starts. */
function linesIn(text: string, { start, end }: Range): readonly Range[] {
  const lines: Range[] = [];
  for (let from = start; from < end; ) {
    const found = text.indexOf('\n', from);
    const to = found < 0 || found > end ? end : found;
    lines.push({ start: from, end: to });
    from = to + 1;
  }
  return lines;
}

const trimmed = (text: string, { start, end }: Range): Range => ({
  start,
  end: start + text.slice(start, end).trimEnd().length,
});

const at = (offset: number): Range => ({ start: offset, end: offset });
