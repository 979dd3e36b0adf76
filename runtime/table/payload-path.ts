/** Follows a dotted path into a payload, for templates, filters and coalesce keys: own properties only, never a prototype. */

/** One part of a path; `index` is its value as an array index, -1 when it is not one. */
interface Step {
  readonly key: string;
  readonly index: number;
}

export type PayloadPath = readonly Step[];

/** Array indexes are canonical decimals: `0`, `12`, not `01` or `length`. */
const INDEX = /^(?:0|[1-9]\d{0,9})$/;

/** Prepares a path once, at link time; null for a path that never resolves. */
export function linkPath(path: readonly string[]): PayloadPath | null {
  // JSON.parse makes an own `__proto__`; no payload needs it.
  if (path.length === 0 || path.includes('__proto__')) return null;
  return path.map((key) => ({ key, index: INDEX.test(key) ? Number(key) : -1 }));
}

/** The value at `path` below `root`; undefined when it does not resolve (JSON has no undefined). */
export function readPath(root: unknown, path: PayloadPath): unknown {
  let value = root;
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    if (Array.isArray(value)) value = step.index < 0 ? undefined : value[step.index];
    else value = Object.hasOwn(value, step.key) ? (value as Record<string, unknown>)[step.key] : undefined;
  }
  return value;
}
