/**
 * Finds the parts of a YAML or JSON text that must not be shown: all scalars at any depth below a key whose name indicates
 * a secret, whatever the schema, including the values of aliases there. References (`env:NAME`, `file:path`) are not secrets.
 */
import type { Document, Node, Pair } from 'yaml';
import { isAlias, isMap, isPair, isScalar, isSeq, parseDocument, visit } from 'yaml';
import { isHarmless, mayBeSecretName } from '../text/secret-names.ts';
import { INSECURE_NO_AUTH } from '../text/secret-ref.ts';
import type { Range, SourceText } from '../text/source-text.ts';

/**
 * @param sensitive start offsets of keys and values that a diagnostic marks as sensitive
 * @returns null if the text is nested too deeply to be parsed
 */
export function secretParts({ text }: SourceText, sensitive: ReadonlySet<number>): readonly Range[] | null {
  try {
    // The parser is tolerant: a text with errors still has nodes before and after them.
    const document = parseDocument(text, { uniqueKeys: false, prettyErrors: false, logLevel: 'silent' });
    return collect(document, sensitive);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

interface Found {
  readonly ranges: Range[];
  /** Anchors that aliases below secret keys refer to. */
  readonly anchors: Set<string>;
}

function collect(document: Document.Parsed, sensitive: ReadonlySet<number>): readonly Range[] {
  const found: Found = { ranges: [], anchors: new Set() };
  const isSecretName = remembered(mayBeSecretName);
  const holdsSecret = ({ key, value }: Pair): boolean =>
    isScalar(key) &&
    (sensitive.has(key.range?.[0] ?? -1) ||
      (isSecretName(String(key.value)) && !(isScalar(value) && isHarmless(String(key.value), String(value.value)))));
  visit(document, {
    Pair(_, pair, path) {
      if (!holdsSecret(pair) || isEntry(pair, path)) return undefined;
      cover(pair.value, found);
      // `coverAnchors` follows its aliases.
      return visit.SKIP;
    },
    Scalar(_, node) {
      if (sensitive.has(node.range?.[0] ?? -1)) cover(node, found);
    },
  });
  coverAnchors(document, found);
  return found.ranges;
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

/** Repeats until there are no new anchors, because anchored values may contain aliases. */
function coverAnchors(document: Document.Parsed, found: Found): void {
  for (let known = 0; known < found.anchors.size; ) {
    known = found.anchors.size;
    visit(document, {
      Node(_, node) {
        if (!isAlias(node) && node.anchor !== undefined && found.anchors.has(node.anchor)) cover(node, found);
      },
    });
  }
}

function cover(value: unknown, found: Found): void {
  if (isAlias(value)) found.anchors.add(value.source);
  else if (isScalar(value)) coverScalar(value, found);
  else if (isSeq(value)) for (const item of value.items) cover(item, found);
  else if (isMap(value)) for (const pair of value.items) coverPair(pair, found);
  else if (isPair(value)) coverPair(value, found);
}

/** If the pair has no value (`{ hunter2 }`), covers its key. */
function coverPair({ key, value }: Pair, found: Found): void {
  if (isScalar(key) && isScalar(value) && accompanies(String(key.value), String(value.value))) return;
  const isEmpty = value === null || (isScalar(value) && value.value === null);
  cover(isEmpty ? key : value, found);
}

/** Keys that accompany a secret but are not secret themselves. */
const accompanies = (key: string, value: string): boolean =>
  key === 'help' || (key === 'expires_at' && /^[\d:.TZ+ -]+$/.test(value));

function coverScalar(node: Node & { readonly value?: unknown }, { ranges }: Found): void {
  const { value, range } = node;
  if (value === null || value === '' || typeof value === 'boolean' || !range) return;
  if (typeof value === 'string' && isReference(value)) return;
  ranges.push({ start: range[0], end: range[1] });
}

/** A reference to a variable, to a file or, in catalog entries, to a setting. */
const isReference = (text: string): boolean =>
  /^(?:env|file):|^[A-Z][a-z]+ \{[^{}]*\}$/.test(text) || text === INSECURE_NO_AUTH;
