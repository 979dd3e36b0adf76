/** Whether what stands at a path leaves outsiders no room for a sentence: a number, a flag, one of a few words, a time. */
import { factsOfField } from './field-facts.ts';
import type { FormSet } from './form-set.ts';
import type { ShapeNode, ShapeType } from './shape.ts';

export function isTrustedField(set: FormSet, path: readonly string[]): boolean {
  const { nodes, isOpen } = factsOfField(set, { in: 'root', path: [...path] });
  // A name that no event has may be a name of ours: `{route}`.
  if (nodes.length === 0) return path.length === 1 && OURS.has(path[0] ?? '');
  return !isOpen && nodes.every(isTrusted);
}

const OURS: ReadonlySet<string> = new Set(['event_type', 'route', 'delivery_id']);
const SCALARS: ReadonlySet<ShapeType> = new Set<ShapeType>(['integer', 'number', 'boolean', 'null']);
const FORMATS: ReadonlySet<string> = new Set(['date-time', 'date', 'uuid']);

const isTrusted = ({ types, values, format }: ShapeNode): boolean =>
  values !== null || (format !== null && FORMATS.has(format)) || [...types].every((type) => SCALARS.has(type));
