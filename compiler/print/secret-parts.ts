/**
 * Finds the parts of a YAML or JSON text that must not be shown: every scalar below a key whose name is one for secrets,
 * however deep, in whatever list or map, and whatever a schema says of the place. What an alias below such a key stands
 * for counts as well. References (`env:NAME`, `file:path`) are no secrets.
 */
import type { Document, Node, Pair } from 'yaml';
import { isAlias, isMap, isPair, isScalar, isSeq, parseDocument, visit } from 'yaml';
import { mayBeSecretName } from '../text/secret-names.ts';
import { INSECURE_NO_AUTH } from '../text/secret-ref.ts';
import type { Range, SourceText } from '../text/source-text.ts';

/**
 * @param sensitive starts of keys and values that a diagnostic calls sensitive.
 * @returns null when the text is nested too deeply to be parsed.
 */
export function secretParts({ text }: SourceText, sensitive: ReadonlySet<number>): readonly Range[] | null {
  try {
    // Tolerant: a text with errors has nodes up to them and behind them.
    const document = parseDocument(text, { uniqueKeys: false, prettyErrors: false, logLevel: 'silent' });
    return collect(document, sensitive);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

interface Found {
  readonly ranges: Range[];
  /** Anchors that an alias below a secret key names. */
  readonly anchors: Set<string>;
}

function collect(document: Document.Parsed, sensitive: ReadonlySet<number>): readonly Range[] {
  const found: Found = { ranges: [], anchors: new Set() };
  const isSecretName = remembered(mayBeSecretName);
  const holdsSecret = ({ key }: Pair): boolean =>
    isScalar(key) && (sensitive.has(key.range?.[0] ?? -1) || isSecretName(String(key.value)));
  visit(document, {
    Pair(_, pair, path) {
      if (!holdsSecret(pair) || isEntry(pair, path)) return undefined;
      cover(pair.value, found);
      // Its aliases are followed below.
      return visit.SKIP;
    },
    Scalar(_, node) {
      if (sensitive.has(node.range?.[0] ?? -1)) cover(node, found);
    },
  });
  coverAnchors(document, found);
  return found.ranges;
}

/** Keys repeat in each route of a long file. */
function remembered(decide: (name: string) => boolean): (name: string) => boolean {
  const known = new Map<string, boolean>();
  return (name) => {
    const answer = known.get(name) ?? decide(name);
    known.set(name, answer);
    return answer;
  };
}

/** Maps whose keys are names that people give. */
const ENTRIES: ReadonlySet<unknown> = new Set(['routes', 'jobs', 'sources', 'platforms']);

/** A route called `token-check` is no secret as a whole. */
function isEntry({ value }: Pair, path: readonly unknown[]): boolean {
  const parent = path.at(-2);
  return isMap(value) && isPair(parent) && isScalar(parent.key) && ENTRIES.has(parent.key.value);
}

/** An anchored value may hold further aliases: until no new anchor turns up. */
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

/** `{ hunter2 }` is a key without a value. */
function coverPair({ key, value }: Pair, found: Found): void {
  if (isScalar(key) && isScalar(value) && isHarmless(String(key.value), String(value.value))) return;
  const isEmpty = value === null || (isScalar(value) && value.value === null);
  cover(isEmpty ? key : value, found);
}

/** What a map about a secret says beside it: until when it counts, and what it is for. */
const isHarmless = (key: string, value: string): boolean =>
  key === 'help' || (key === 'expires_at' && /^[\d:.TZ+ -]+$/.test(value));

function coverScalar(node: Node & { readonly value?: unknown }, { ranges }: Found): void {
  const { value, range } = node;
  if (value === null || value === '' || typeof value === 'boolean' || !range) return;
  if (typeof value === 'string' && isReference(value)) return;
  ranges.push({ start: range[0], end: range[1] });
}

/** To a variable, a file or, in an entry of the catalog, a setting. */
const isReference = (text: string): boolean =>
  /^(?:env|file):|^[A-Z][a-z]+ \{[^{}]*\}$/.test(text) || text === INSECURE_NO_AUTH;
