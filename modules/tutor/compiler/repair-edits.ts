/** Converts repairs to edits of the text, with its layout and comments, for `lint --fix`. */
import type { Finding, NodePath, Problem, Repair, TextEdit } from '../../../compiler/diagnostics/diagnostic.ts';
import type { NodeFinding, Places } from '../../../compiler/source/find-place.ts';
import type { NodePlace } from '../../../compiler/source/source-tree.ts';
import type { Range } from '../../../compiler/text/source-text.ts';

/** A node to fix. */
interface RepairPlace extends NodePlace {
  /** The place of another key of the same map; null if the map itself does not have it. */
  sibling(key: string): NodePlace | null;
}

type Edits = readonly TextEdit[] | null;
type RepairOf<Kind extends Repair['kind']> = Extract<Repair, { readonly kind: Kind }>;

/** Indentation of one level. */
const STEP = '  ';

/** Adds the fix of the finding's problem, if its text can be edited. */
export function withFix(finding: NodeFinding): Finding {
  const { problem, tree, base } = finding.node;
  if (problem.fix === undefined) return finding;
  const place = repairPlace(tree, [...base, ...(problem.fixAt ?? problem.path)]);
  if (place === null || place.file !== tree.place([...base, ...problem.path]).file) return finding;
  const fix = editsFor(problem.fixAt === undefined ? problem : { at: 'value' }, problem.fix, place);
  return fix === null || fix.length === 0 ? finding : { ...finding, fix };
}

/** Returns null for nodes that were reached through an alias: other places use them, too, and may not need the fix. */
function repairPlace(tree: Places, path: NodePath): RepairPlace | null {
  const own = (of: NodePath): NodePlace | null => {
    const place = tree.place(of);
    return place.depth === of.length && place.via === null ? place : null;
  };
  const place = own(path);
  return place === null ? null : { ...place, sibling: (key) => own([...path.slice(0, -1), key]) };
}

/** Returns null if the written text differs from its value (an escape, a folded line) or its layout is unusual. */
function editsFor({ at, within }: Pick<Problem, 'at' | 'within'>, repair: Repair, place: RepairPlace): Edits {
  const part = within === undefined ? place.value : place.part(within.offset, within.length);
  const range = at === 'key' ? place.key : part;
  switch (repair.kind) {
    case 'rename':
      return range && renamed(place, range, repair.text);
    case 'replace':
      return range && [{ range, text: repair.text }];
    case 'quote':
      return range && quoted(place, range);
    case 'flow':
      return replaceNode(place, repair);
    case 'nest':
      return nestKey(place, repair);
    case 'move':
      return moveKey(place, repair);
    case 'indent':
      return indentSiblings(place, repair);
    case 'named-items':
      return unlistNamed(place);
  }
}

function renamed({ file }: NodePlace, range: Range, text: string): Edits {
  const [quote = ''] = /^["']?/.exec(file.source.text.slice(range.start, range.end)) ?? [];
  return [{ range, text: quote + text + quote }];
}

/** The rest of the line belongs to the text: `{title}: new` is a map and a key without a name for the parser, `{title} #{number}` a comment. */
function quoted({ file: { source } }: NodePlace, { start, end: valueEnd }: Range): Edits {
  const [rest = ''] =
    /^(?::?[ \t]*[^\s#,}\]]|[ \t]+#[^\n]*\{).*?(?=\s+#[^{\n]*$|\s*$)/my.exec(source.text.slice(valueEnd)) ?? [];
  const end = valueEnd + rest.length;
  return /["\\\n]/.test(source.text.slice(start, end)) ? null : [insertion(start, '"'), insertion(end, '"')];
}

/** Replaces a value, and adds another key after it. A replacement would delete a comment. */
function replaceNode({ key, value, file }: NodePlace, { text: replacement, andKey }: RepairOf<'flow'>): Edits {
  const { text } = file.source;
  const written = text.slice(value.start, value.end).trimEnd();
  if (/(?:^|\s)#/.test(written)) return null;
  // A block below the key becomes a value on the key's line.
  const isBelow = key !== null && /^:\s*\n\s*$/.test(text.slice(key.end, value.start));
  const range = { start: isBelow ? key.end : value.start, end: value.start + written.length };
  const indent = key === null ? null : indentOf(text, key.start);
  const next = andKey === undefined ? '' : (indent === null ? ', ' : `\n${indent}`) + andKey;
  return [{ range, text: (isBelow ? ': ' : '') + replacement + next }];
}

/** Replaces `key: value` with nested keys `a:`, `b:` and so on; the value goes below the last of them. */
function nestKey({ key, value, file }: NodePlace, { under }: RepairOf<'nest'>): Edits {
  const { text } = file.source;
  if (key === null) return null;
  const indent = indentOf(text, key.start);
  if (indent !== null) {
    const names = under.map((name, depth) => (depth === 0 ? name : `\n${indent}${STEP.repeat(depth)}${name}`));
    const deeper = indented(text, key.end, value.end, STEP.repeat(under.length - 1));
    return [{ range: key, text: names.join(':') }, ...deeper];
  }
  // A map on one line: `a: { b: { key: value } }`.
  if (text.slice(key.start, value.end).includes('\n')) return null;
  return [{ range: key, text: under.join(': { ') }, insertion(value.end, ' }'.repeat(under.length - 1))];
}

/** Moves a key with its value, and the comments above it, to the end of a sibling's map. Both must be in block style. */
function moveKey(place: RepairPlace, { into }: RepairOf<'move'>): Edits {
  const { key, value, file } = place;
  const { text } = file.source;
  const home = place.sibling(into);
  const own = key === null ? null : indentOf(text, key.start);
  const indent = home === null ? null : indentOf(text, home.value.start);
  if (key === null || own === null || home === null || indent === null) return null;
  if (home.file !== file || indent.length <= own.length) return null;
  const lineStart = key.start - own.length;
  const [comments = ''] = /(?:(?<=^|\n) *#[^\n]*\n)*$/.exec(text.slice(0, lineStart)) ?? [];
  const range = { start: lineStart - comments.length, end: nextLine(text, key.start, value.end) };
  const moved = text
    .slice(range.start, range.end)
    .trimEnd()
    .replace(/^(?=.*\S)/gm, indent.slice(own.length));
  const to = nextLine(text, home.value.start, home.value.end);
  if (to === range.start) return [{ range, text: `${moved}\n` }];
  const edits = [insertion(to, text[to - 1] === '\n' ? `${moved}\n` : `\n${moved}`), { range, text: '' }];
  return to < range.start ? edits : edits.toReversed();
}

/** Indents the siblings that follow an empty key, so that they become its value. */
function indentSiblings(place: RepairPlace, { keys }: RepairOf<'indent'>): Edits {
  const { key, file } = place;
  const { text } = file.source;
  const last = place.sibling(keys.at(-1) ?? '');
  if (key === null || indentOf(text, key.start) === null) return null;
  if (last === null || last.file !== file || last.value.start < key.end) return null;
  // The empty edit at the key makes its line part of the shown result.
  return [insertion(key.start, ''), ...indented(text, key.end, Math.max(last.value.end, last.key?.end ?? 0), STEP)];
}

/** Replaces `- name: x` with `x:` at the start of each list item. */
function unlistNamed({ value: { start, end }, file }: NodePlace): Edits {
  const { text } = file.source;
  const indent = indentOf(text, start);
  if (indent === null || text[start] !== '-') return null;
  const items = [...text.slice(start - indent.length, end).matchAll(new RegExp(`^${indent}(-.*)$`, 'gm'))];
  const edits = items.flatMap(({ index, 1: item = '' }): readonly TextEdit[] => {
    const [line, , name] = /^- {1,3}name:\s+(["']?)([a-z0-9][a-z0-9_-]{0,63})\1[ \t]*$/.exec(item) ?? [];
    return line === undefined
      ? []
      : [{ range: { start: start + index, end: start + index + line.length }, text: `${name}:` }];
  });
  return edits.length < items.length ? null : edits;
}

/** The indentation before an offset, or null if it is not the first text on its line. */
function indentOf(text: string, offset: number): string | null {
  const before = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  return /^ *$/.test(before) ? before : null;
}

/** Indents each non-blank line that begins in the range. */
const indented = (text: string, start: number, end: number, indent: string): readonly TextEdit[] =>
  [...text.slice(start, Math.max(start, end)).matchAll(/\n(?=[^\n]*\S)/g)].map(({ index }) =>
    insertion(start + index + 1, indent),
  );

/** The start of the line after the range, or the end of the text. */
function nextLine(text: string, start: number, end: number): number {
  const found = text.indexOf('\n', start + text.slice(start, end).trimEnd().length);
  return found < 0 ? text.length : found + 1;
}

const insertion = (offset: number, text: string): TextEdit => ({ range: { start: offset, end: offset }, text });
