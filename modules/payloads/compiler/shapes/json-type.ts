/** JSON Schema types of values. */
import type { ShapeType } from './shape.ts';

/** @param value of JSON */
export function jsonType(value: unknown): Exclude<ShapeType, 'any'> {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value === 'string' ? 'string' : typeof value === 'boolean' ? 'boolean' : 'object';
}

/** Whether one of the types has the values of this type. */
export const allowsType = (types: ReadonlySet<ShapeType>, type: ShapeType): boolean =>
  types.has(type) || (type === 'integer' && types.has('number'));

/** Whether values are always an object, a list or null. */
export const isContainer = (types: ReadonlySet<ShapeType>): boolean =>
  (types.has('object') || types.has('array')) && [...types].every((type) => CONTAINERS.has(type));

const CONTAINERS: ReadonlySet<ShapeType> = new Set<ShapeType>(['object', 'array', 'null']);
