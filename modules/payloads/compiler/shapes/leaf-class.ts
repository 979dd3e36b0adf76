/** Classifies a payload field by its type, format, values and name. */
import type { LeafClass } from './leaf-classes.ts';
import type { ShapeNode } from './shape.ts';

export type { LeafClass };

/** Whether an outsider can control values of this class. */
export const isUntrusted = (leafClass: LeafClass): boolean => leafClass === 'text' || leafClass === 'unknown';

/** From least to most trusted. */
const ORDER: readonly LeafClass[] = ['unknown', 'text', 'ours', 'url', 'identifier', 'enum', 'number'];

export const isLeafClass = (value: unknown): value is LeafClass => (ORDER as readonly unknown[]).includes(value);

/** The least trusted of several possible classes. */
export const leastTrusted = (classes: readonly LeafClass[]): LeafClass =>
  ORDER.find((each) => classes.includes(each)) ?? 'unknown';

/** The class of a leaf that has not been reviewed. @param name the last part of its path that is not an index */
export function classByType(node: ShapeNode, name: string): LeafClass {
  const { types, values, format, leafClass } = node;
  if (types.has('any')) return 'unknown';
  if (isLeafClass(leafClass)) return leafClass;
  if (values !== null || types.has('boolean')) return types.has('string') && values === null ? 'text' : 'enum';
  if (!types.has('string')) return 'number';
  return (format === null ? undefined : FORMATS[format]) ?? classByName(name);
}

/** JSON Schema formats whose values cannot contain a sentence. E-mail addresses can: anyone may choose the local part. */
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

/** Field names that have the same meaning for all senders with known shapes. Other fields are free text. */
const NAMES: readonly (readonly [RegExp, LeafClass])[] = [
  [/^(?:id|uuid|guid|sha|login)$|(?:_id|_ids|_uuid|_sha|_at)$|[a-z](?:Id|Ids|At|Uuid)$/, 'identifier'],
  [/^(?:url|href)$|_url$|[a-z]Url$/, 'url'],
];

const classByName = (name: string): LeafClass => NAMES.find(([names]) => names.test(name))?.[1] ?? 'text';
