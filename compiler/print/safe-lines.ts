/** Source lines that are safe to print: sensitive ranges of diagnostics and anything that looks like a credential are masked. */

import type { Document, Node, Pair } from 'yaml';
import { isAlias, isMap, isPair, isScalar, isSeq, visit } from 'yaml';
import { groupBy } from '../../base/group-by.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { mask, maskCredentials, printable } from '../diagnostics/printable.ts';
import { parseBounded, YamlLimitError } from '../text/bounded-yaml.ts';
import { INSECURE_NO_AUTH, isHarmless, mayBeSecretName } from '../text/secret-ref.ts';
import type { Range, SourceText } from '../text/source-text.ts';
import type { Lines } from './lines.ts';
import { createLines } from './lines.ts';

/** Returns the masked text of a line (1-based), without its line end. Masking keeps the length. */
export type SafeLine = (source: SourceText, line: number) => string;

/** Columns of one line, 0-based and half-open. */
type Columns = Range;
type LineParts = ReadonlyMap<number, readonly Columns[]>;

/** Masks sensitive ranges in all code frames of a file, not only in that of the diagnostic that reports them. */
export function createSafeLines(diagnostics: readonly Diagnostic[], lines: Lines): SafeLine {
  const sensitive = groupBy(
    diagnostics.filter((diagnostic) => diagnostic.sensitive === true),
    ({ source }) => source.path,
  );
  const known = new Map<string, LineParts | null>();
  const partsOf = (source: SourceText): LineParts | null => {
    const cached = known.get(source.path);
    if (cached !== undefined) return cached;
    const parts = findParts(
      source,
      (sensitive.get(source.path) ?? []).map(({ range }) => range),
      lines,
    );
    known.set(source.path, parts);
    return parts;
  };
  const cleaned = (source: SourceText, line: number): string => {
    const text = lines.textOf(source, line);
    const parts = partsOf(source);
    if (parts === null) return mask(text);
    return printable((parts.get(line) ?? []).reduce(cover, maskCredentials(text)));
  };
  // Diagnostics are in file order, and a long line may have very many.
  let last = { path: '', line: 0, text: '' };
  return (source, line) => {
    if (last.line !== line || last.path !== source.path)
      last = { path: source.path, line, text: cleaned(source, line) };
    return last.text;
  };
}

/** Masks a whole text, line by line. */
export function safeText(source: SourceText): string {
  const safeLine = createSafeLines([], createLines());
  return source.text
    .split('\n')
    .map((_, index) => safeLine(source, index + 1))
    .join('\n');
}

const cover = (text: string, { start, end }: Columns): string =>
  text.slice(0, start) + mask(text.slice(start, end)) + text.slice(end);

/** Returns null if the text could not be analysed; none of it may then be shown. */
function findParts(source: SourceText, sensitive: readonly Range[], lines: Lines): LineParts | null {
  const secrets = secretParts(source, new Set(sensitive.map(({ start }) => start)));
  if (secrets === null) return null;
  // `secretParts` masks the values of sensitive keys; other ranges are masked themselves.
  const others = sensitive.filter(({ end }) => !/^["']?[ \t]*:/.test(source.text.slice(end, end + 8)));
  const parts = [...secrets, ...others].flatMap((range) => partsByLine(source, range, lines));
  return groupBy(parts, ({ line }) => line);
}

interface LinePart extends Columns {
  readonly line: number;
}

/** The columns of a range, in each of its lines. */
function partsByLine(source: SourceText, range: Range, lines: Lines): readonly LinePart[] {
  const { start: first, end: last } = lines.spanOf(source, range);
  return Array.from({ length: last.line - first.line + 1 }, (_, index) => ({
    line: first.line + index,
    start: index === 0 ? first.column - 1 : 0,
    end: first.line + index === last.line ? last.column - 1 : Number.POSITIVE_INFINITY,
  }));
}

/*
 * Finds the parts of a YAML or JSON text that must not be shown: all scalars at any depth below a key whose name indicates
 * a secret, whatever the schema, including the values of aliases there. References (`env:NAME`, `file:path`) are not secrets.
 */

/**
 * @param sensitive start offsets of keys and values that a diagnostic marks as sensitive
 * @returns null if the text is nested too deeply to be parsed
 */
function secretParts({ text }: SourceText, sensitive: ReadonlySet<number>): readonly Range[] | null {
  try {
    // The parser is tolerant: a text with errors still has nodes before and after them.
    const document = parseBounded(text, { uniqueKeys: false, prettyErrors: false, logLevel: 'silent' });
    return collect(document, sensitive);
  } catch (error) {
    if (error instanceof YamlLimitError) return null;
    throw error;
  }
}

interface SecretParts {
  readonly ranges: Range[];
  /** Anchors that aliases below secret keys refer to. */
  readonly anchors: Set<string>;
}

function collect(document: Document.Parsed, sensitive: ReadonlySet<number>): readonly Range[] {
  const secrets: SecretParts = { ranges: [], anchors: new Set() };
  const isSecretName = remembered(mayBeSecretName);
  const holdsSecret = ({ key, value }: Pair): boolean =>
    isScalar(key) &&
    (sensitive.has(key.range?.[0] ?? -1) ||
      (isSecretName(String(key.value)) && !(isScalar(value) && isHarmless(String(key.value), String(value.value)))));
  visit(document, {
    Pair(_, pair, path) {
      if (!(holdsSecret(pair) || isKeyOfAgent(pair, path)) || isEntry(pair, path)) return undefined;
      coverPart(pair.value, secrets);
      // `coverAnchors` follows its aliases.
      return visit.SKIP;
    },
    Scalar(_, node) {
      if (sensitive.has(node.range?.[0] ?? -1)) coverPart(node, secrets);
    },
  });
  coverAnchors(document, secrets);
  return secrets.ranges;
}

/** Caches decisions: keys repeat in each route of a long file. */
function remembered(decide: (name: string) => boolean): (name: string) => boolean {
  const known = new Map<string, boolean>();
  return (name) => {
    const answer = known.get(name) ?? decide(name);
    known.set(name, answer);
    return answer;
  };
}

/** Maps whose keys are names chosen by users. */
const ENTRIES: ReadonlySet<unknown> = new Set(['routes', 'jobs', 'sources', 'targets', 'platforms']);

/** Whether the pair is an entry, such as a route called `token-check`, whose name does not indicate a secret. */
function isEntry({ value }: Pair, path: readonly unknown[]): boolean {
  const parent = path.at(-2);
  return isMap(value) && isPair(parent) && isScalar(parent.key) && ENTRIES.has(parent.key.value);
}

/** `key` is a secret below `agent`, `agents.<name>` and `gateway.store`; elsewhere it is a template. */
function isKeyOfAgent({ key }: Pair, path: readonly unknown[]): boolean {
  if (!isScalar(key) || key.value !== 'key') return false;
  const names = path.filter(isPair).map((pair) => (isScalar(pair.key) ? pair.key.value : null));
  return names.at(-1) === 'agent' || names.at(-1) === 'store' || names.at(-2) === 'agents';
}

/** Repeats until there are no new anchors, because anchored values may contain aliases. */
function coverAnchors(document: Document.Parsed, secrets: SecretParts): void {
  for (let known = 0; known < secrets.anchors.size; ) {
    known = secrets.anchors.size;
    visit(document, {
      Node(_, node) {
        if (!isAlias(node) && node.anchor !== undefined && secrets.anchors.has(node.anchor)) coverPart(node, secrets);
      },
    });
  }
}

function coverPart(value: unknown, secrets: SecretParts): void {
  if (isAlias(value)) secrets.anchors.add(value.source);
  else if (isScalar(value)) coverScalar(value, secrets);
  else if (isSeq(value)) for (const item of value.items) coverPart(item, secrets);
  else if (isMap(value)) for (const pair of value.items) coverPair(pair, secrets);
  else if (isPair(value)) coverPair(value, secrets);
}

/** If the pair has no value (`{ hunter2 }`), covers its key. */
function coverPair({ key, value }: Pair, secrets: SecretParts): void {
  if (isScalar(key) && isScalar(value) && accompanies(String(key.value), String(value.value))) return;
  const isEmpty = value === null || (isScalar(value) && value.value === null);
  coverPart(isEmpty ? key : value, secrets);
}

/** Keys that accompany a secret but are not secret themselves. */
const accompanies = (key: string, value: string): boolean =>
  key === 'help' || (key === 'expires_at' && /^[\d:.TZ+ -]+$/.test(value));

function coverScalar(node: Node & { readonly value?: unknown }, { ranges }: SecretParts): void {
  const { value, range } = node;
  if (value === null || value === '' || typeof value === 'boolean' || !range) return;
  if (typeof value === 'string' && isReference(value)) return;
  ranges.push({ start: range[0], end: range[1] });
}

/** A reference to a variable, to a file or, in catalog entries, to a setting. */
const isReference = (text: string): boolean =>
  /^(?:env|file):|^[A-Z][a-z]+ \{[^{}]*\}$/.test(text) || text === INSECURE_NO_AUTH;
