/**
 * Merges several files into one config, and finds the file and position of each merged value. Maps are merged key by key
 * down to entries (a route, a job, a target, a source); an entry belongs to one file.
 */
import { groupBy } from '../../base/group-by.ts';
import { ENTRY_MAPS } from '../config/settings.ts';
import type { Finding, NodePath } from '../diagnostics/diagnostic.ts';
import { isPlainMap, setOwn } from '../text/plain-data.ts';
import type { Location } from './locate.ts';
import { LocationIndex, locate } from './locate.ts';
import type { ParsedFile } from './parse-yaml.ts';

export interface NodePlace extends Location {
  readonly file: ParsedFile;
}

export interface SourceTree {
  readonly value: Readonly<Record<string, unknown>>;
  readonly files: readonly ParsedFile[];
  /** The place of the value at a path, or of its closest existing ancestor. */
  place(path: NodePath): NodePlace;
}

/** Whether the entries of a map may be in several files. */
const isShared = (path: readonly string[]): boolean => {
  const name = path.join('.');
  return name === 'agent' || ENTRY_MAPS.has(name);
};

/** Names for definitions in messages, by path. */
const NOUNS: Readonly<Record<string, string>> = {
  platforms: 'target',
  'platforms.webhook.routes': 'route',
  'platforms.webhook.extra.routes': 'route',
  agents: 'agent',
  jobs: 'job',
  sources: 'source',
  targets: 'target',
};

/** The file that defines a key, or the files of a shared map. */
interface Owner {
  readonly file: ParsedFile;
  readonly children: ReadonlyMap<string, Owner> | null;
}

type Data = Readonly<Record<string, unknown>>;

/** One file's value at a path. */
interface FilePart {
  readonly file: ParsedFile;
  readonly value: unknown;
}

interface Merge {
  readonly findings: Finding[];
  readonly index: LocationIndex;
}

/** @param files parsed config files whose roots are maps; the root file is first */
export function mergeFiles(files: readonly ParsedFile[]): {
  readonly tree: SourceTree;
  readonly findings: readonly Finding[];
} {
  const merge: Merge = { findings: [], index: new LocationIndex() };
  const parts = files.map((file) => ({ file, value: ownSettings(file.value as Data) }));
  const merged = mergeParts(merge, parts, []);
  const place = (path: NodePath): NodePlace => {
    const file = ownerOf(merged.owner, path);
    return { ...locate(file, path, merge.index), file };
  };
  return { tree: { value: merged.value as Data, files, place }, findings: merge.findings };
}

/** Drops keys that concern only their file: `include`, which has been followed, and `x-…` keys, which contain anchors. */
const ownSettings = (value: Data): Data =>
  Object.fromEntries(Object.entries(value).filter(([key]) => key !== 'include' && !key.startsWith('x-')));

function mergeParts(
  merge: Merge,
  parts: readonly FilePart[],
  path: readonly string[],
): { value: unknown; owner: Owner } {
  const [first, second] = parts;
  if (first === undefined) throw new RangeError('nothing to merge');
  if (second === undefined) return { value: first.value, owner: { file: first.file, children: null } };
  if (!isShared(path) || !parts.every((part) => isPlainMap(part.value))) {
    for (const part of parts.slice(1))
      merge.findings.push(duplicate(merge, { path, first: first.file, again: part.file }));
    return { value: first.value, owner: { file: first.file, children: null } };
  }
  const value: Record<string, unknown> = {};
  const children = new Map<string, Owner>();
  const entries = parts.flatMap(({ file, value: map }) =>
    Object.entries(map as Data).map(([key, item]) => ({ key, file, value: item })),
  );
  for (const [key, ofKey] of groupBy(entries, (entry) => entry.key)) {
    const child = mergeParts(merge, ofKey, [...path, key]);
    setOwn(value, key, child.value);
    children.set(key, child.owner);
  }
  return { value, owner: { file: first.file, children } };
}

interface Clash {
  readonly path: readonly string[];
  readonly first: ParsedFile;
  readonly again: ParsedFile;
}

function duplicate(merge: Merge, { path, first, again }: Clash): Finding {
  const name = path.at(-1) ?? '';
  const noun = NOUNS[path.slice(0, -1).join('.')] ?? 'setting';
  const here = locate(again, path, merge.index);
  const there = locate(first, path, merge.index);
  return {
    rule: 'duplicate-definition',
    source: again.source,
    range: here.key ?? here.value,
    message: `${noun} \`${name}\` is defined in two files`,
    hint: 'keep one of the two definitions, or rename one of them',
    related: [{ source: first.source, range: there.key ?? there.value, message: 'it is first defined here' }],
  };
}

function ownerOf(root: Owner, path: NodePath): ParsedFile {
  let owner = root;
  for (const part of path) {
    const child = owner.children?.get(String(part));
    if (child === undefined) break;
    owner = child;
  }
  return owner.file;
}
