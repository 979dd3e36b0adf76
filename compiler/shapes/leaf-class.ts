/** What a field of a payload is and who writes it, as far as its type, its format, its values and its name tell. */
import type { LeafClass } from './leaf-classes.ts';
import type { ShapeNode } from './shape.ts';

export type { LeafClass };

/** Whether an outsider may have written a value of this class. */
export const isUntrusted = (leafClass: LeafClass): boolean => leafClass === 'text' || leafClass === 'unknown';

/** What is least trusted comes first. */
const ORDER: readonly LeafClass[] = ['unknown', 'text', 'ours', 'url', 'identifier', 'enum', 'number'];

export const isLeafClass = (value: unknown): value is LeafClass => (ORDER as readonly unknown[]).includes(value);

/** The least trusted class of those that a value may have. */
export const leastTrusted = (classes: readonly LeafClass[]): LeafClass =>
  ORDER.find((each) => classes.includes(each)) ?? 'unknown';

/** The class of a leaf that has not been reviewed. @param name last part of its path that is no index */
export function classByType(node: ShapeNode, name: string): LeafClass {
  const { types, values, format, leafClass } = node;
  if (types.has('any')) return 'unknown';
  if (isLeafClass(leafClass)) return leafClass;
  if (values !== null || types.has('boolean')) return types.has('string') && values === null ? 'text' : 'enum';
  if (!types.has('string')) return 'number';
  return (format === null ? undefined : FORMATS[format]) ?? classByName(name);
}

/** Formats of JSON Schema whose values leave no room for a sentence. An e-mail address does: anyone can choose its local part. */
const FORMATS: Readonly<Record<string, LeafClass>> = {
  'date-time': 'identifier',
  date: 'identifier',
  time: 'identifier',
  duration: 'identifier',
  uuid: 'identifier',
  ipv4: 'identifier',
  ipv6: 'identifier',
  uri: 'url',
  url: 'url',
};

/** Names that mean the same with every sender whose shape is known. Everything else is free text. */
const NAMES: readonly (readonly [RegExp, LeafClass])[] = [
  [/^(?:id|uuid|guid|sha|login)$|(?:_id|_ids|_uuid|_sha|_at)$|[a-z](?:Id|Ids|At|Uuid)$/, 'identifier'],
  [/^(?:url|href)$|_url$|[a-z]Url$/, 'url'],
];

const classByName = (name: string): LeafClass => NAMES.find(([names]) => names.test(name))?.[1] ?? 'text';
