/**
 * Changes values in a hand-written YAML file by replacing only their characters: comments, order, quotes and layout of
 * everything else stay. Each result is parsed and compared with the expected data; if they differ, or a comment would be
 * lost, the edit is rejected.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Document, Pair, Scalar, YAMLMap } from 'yaml';
import { isAlias, isMap, isScalar, Lexer, parseDocument, stringify } from 'yaml';
import { CliError } from '../../../../cli/base/errors.ts';
import { parseBounded, YamlLimitError } from '../../../../compiler/text/bounded-yaml.ts';

/** @throws CliError if the text is not YAML, or the edit would change anything else */
export function editYaml(name: string, text: string, edits: readonly YamlEdit[]): string {
  return edits.reduce((edited, edit) => applyEdit(name, edited, edit), text);
}

/** The data of a file. @throws CliError with the position of the error if it is not a map of settings in YAML */
export const readYaml = (name: string, text: string): unknown => parse(name, text).toJS() ?? {};

function applyEdit(name: string, text: string, { path, value }: YamlEdit): string {
  const document = parse(name, text);
  const before: unknown = document.toJS() ?? {};
  const wanted = withValue(before, path, value);
  if (isDeepStrictEqual(wanted, before)) return text;
  const { from, to, text: inserted } = splice(name, text, document, { path, value });
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const edited = text.slice(0, from) + inserted.replaceAll('\n', newline) + text.slice(to);
  const remaining = comments(edited);
  const lost = comments(text).find((comment) => !take(remaining, comment));
  if (lost !== undefined) {
    throw new CliError(`${name}: changing ${path.join('.')} would lose the comment "${lost}"`, 'edit it by hand');
  }
  if (!isDeepStrictEqual(parseDocument(edited).toJS() ?? {}, wanted)) {
    throw new CliError(
      `${name}: cannot change ${path.join('.')} without changing the text around it`,
      'edit the file by hand',
    );
  }
  return edited;
}

/** The expected data after the edit. */
function withValue(data: unknown, path: readonly string[], value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  const map = typeof data === 'object' && data !== null ? (data as Readonly<Record<string, unknown>>) : {};
  return { ...map, [key]: withValue(map[key], rest, value) };
}

function readBounded(name: string, text: string): Document.Parsed {
  try {
    return parseBounded(text, { logLevel: 'silent', prettyErrors: false });
  } catch (error) {
    if (error instanceof YamlLimitError)
      throw new CliError(`${name}: ${error.message}`, 'fix it first: hookwright lint');
    throw error;
  }
}

function parse(name: string, text: string): Document.Parsed {
  const document = readBounded(name, text);
  const [error] = document.errors;
  if (error !== undefined) {
    const before = text.slice(0, error.pos[0]).split('\n');
    const place = `${name}:${before.length}:${(before.at(-1) ?? '').length + 1}`;
    throw new CliError(`${place}: ${error.message}`, 'fix it first: hookwright lint');
  }
  const { contents } = document;
  if (contents !== null && !isMap(contents) && !isEmpty(contents)) {
    throw new CliError(`${name} is not a map of settings`);
  }
  return document;
}

/** The comments of a text, without surrounding white space. */
function comments(text: string): string[] {
  const found: string[] = [];
  let scalar = false;
  for (const token of new Lexer().lex(text)) {
    // The lexer marks scalars: the text after the mark is not a comment, even if it looks like one.
    if (!scalar && token.startsWith('#')) found.push(token.trim());
    scalar = token === '\u001f';
  }
  return found;
}

function take(list: string[], item: string): boolean {
  const at = list.indexOf(item);
  if (at !== -1) list.splice(at, 1);
  return at !== -1;
}

export interface YamlEdit {
  readonly path: readonly string[];
  readonly value: unknown;
}

type Map = YAMLMap<Scalar, unknown>;

/** Replaces the characters from `from` to `to` with `text`. */
interface Splice {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** The single replacement that makes the edit. */
function splice(name: string, text: string, document: Document.Parsed, { path, value }: YamlEdit): Splice {
  if (!isMap(document.contents)) return append(text, text.length, block(path, value, 0, 2));
  let map = document.contents as unknown as Map;
  const step = indentStep(text, map);
  for (const [depth, key] of path.entries()) {
    const pair = map.items.find((item) => String(item.key.value) === key);
    const rest = path.slice(depth + 1);
    if (pair === undefined)
      return insert(text, map, block(path.slice(depth), value, indentOf(text, map), step), path.slice(depth), value);
    const at = path.slice(0, depth + 1).join('.');
    if (isAlias(pair.value)) throw new CliError(`${name}: ${at} is a YAML alias`, 'edit the file by hand');
    if (rest.length === 0) return replace(text, map, pair, value, step);
    if (isMap(pair.value)) map = pair.value as Map;
    else if (isAbsent(pair.value))
      return fill(text, pair, block(rest, value, indentOf(text, map) + step, step), indentOf(text, map));
    else if (isEmpty(pair.value)) return replace(text, map, pair, nest(rest, value), step);
    else throw new CliError(`${name}: ${at} is not a map`, 'edit the file by hand');
  }
  throw new CliError(`${name}: an edit without a path`);
}

const nest = (path: readonly string[], value: unknown): unknown =>
  path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);

function block(path: readonly string[], value: unknown, indent: number, step: number): string {
  const lines = stringify(nest(path, value), { indent: step, lineWidth: 0 }).trimEnd().split('\n');
  return `${lines.map((line) => (line === '' ? line : ' '.repeat(indent) + line)).join('\n')}\n`;
}

function insert(text: string, map: Map, lines: string, path: readonly string[], value: unknown): Splice {
  const last = map.items.at(-1);
  if (map.flow === true) {
    const at = last === undefined ? start(map) + 1 : endOf(last);
    const [key = '', ...rest] = path;
    return { from: at, to: at, text: `${last === undefined ? '' : ', '}${inline(key)}: ${inline(nest(rest, value))}` };
  }
  const indent = indentOf(text, map);
  return append(text, afterComments(text, lineEnd(text, last === undefined ? start(map) : endOf(last)), indent), lines);
}

/** Inserts lines at the start of a line. Adds a missing final line end, and a blank line before a new section if the file has blank lines. */
function append(text: string, at: number, lines: string): Splice {
  const open = at > 0 && text[at - 1] !== '\n' ? '\n' : '';
  const spaced = at === text.length && !lines.startsWith(' ') && /\n\s*\n/.test(text) ? '\n' : '';
  return { from: at, to: at, text: open + spaced + lines };
}

function replace(text: string, map: Map, pair: Pair<Scalar, unknown>, value: unknown, step: number): Splice {
  const { value: node } = pair;
  const flow = map.flow === true;
  const indent = indentOf(text, map);
  const scalar = typeof value !== 'object' || value === null;
  if (isAbsent(node) && !scalar && !flow) return fill(text, pair, block([], value, indent + step, step), indent);
  const { range } = node as { readonly range?: readonly [number, number, number] | null };
  if (range && (flow || (isScalar(node) && scalar && !String(node.type).startsWith('BLOCK')))) {
    const [from, to] = range;
    const gap = text[from - 1] === ':' ? ' ' : '';
    return { from, to, text: gap + inline(value) };
  }
  const from = start(pair.key);
  return {
    from,
    to: endOf(pair),
    text: block([String(pair.key.value)], value, indent, step).trim() + (text[endOf(pair) - 1] === '\n' ? '\n' : ''),
  };
}

/** Adds the first entries to a key without a value (`gateway:`). */
function fill(text: string, pair: Pair<Scalar, unknown>, lines: string, indent: number): Splice {
  const at = afterComments(text, lineEnd(text, endOf(pair)), indent + 1);
  return append(text, at, lines);
}

/** A value on one line, also valid in a flow collection. */
function inline(value: unknown): string {
  if (typeof value === 'string') {
    const plain = stringify(value, { lineWidth: 0 }).trimEnd();
    return /^[\w./:@+-]+( [\w./:@+-]+)*$/.test(plain) ? plain : JSON.stringify(value);
  }
  return stringify(value, { collectionStyle: 'flow', lineWidth: 0, flowCollectionPadding: false }).trimEnd();
}

/** Whether nothing is written after the key's colon. */
const isAbsent = (node: unknown): boolean => isEmpty(node) && (!isScalar(node) || node.range?.[0] === node.range?.[1]);

/** Whether the value is null, explicit or empty. */
const isEmpty = (node: unknown): boolean => node === null || (isScalar(node) && node.value === null);

function start(node: { range?: readonly [number, number, number] | null }): number {
  return node.range?.[0] ?? 0;
}

/** The end of a pair's value, without trailing comments. */
function endOf(pair: Pair<Scalar, unknown>): number {
  const { value } = pair as { readonly value: { readonly range?: readonly [number, number, number] | null } | null };
  return value?.range?.[1] ?? pair.key.range?.[1] ?? 0;
}

/** The start of the line after the one with the character before `at`. */
function lineEnd(text: string, at: number): number {
  if (at > 0 && text[at - 1] === '\n') return at;
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end + 1;
}

/** Skips the comment lines that belong to the entry above: those at `indent` or deeper. */
function afterComments(text: string, at: number, indent: number): number {
  const line = /^([ \t]*)(#[^\n]*)?(\n|$)/.exec(text.slice(at));
  if (line === null || line[0] === '') return at;
  const blank = line[2] === undefined;
  if (blank ? indent > 0 : (line[1] ?? '').length < indent) return at;
  return afterComments(text, at + line[0].length, indent);
}

function indentOf(text: string, map: Map): number {
  const first = start(map.items[0]?.key ?? map);
  return first - (text.lastIndexOf('\n', first - 1) + 1);
}

/** The indentation of the file, or 2 if it has none. */
function indentStep(text: string, root: Map): number {
  for (const { value } of root.items) {
    if (isMap(value) && value.flow !== true && value.items.length > 0)
      return indentOf(text, value as Map) - indentOf(text, root);
  }
  return 2;
}
