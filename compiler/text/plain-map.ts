/** Maps from files as plain objects: what counts as one, and how a key gets in whatever it is called. */

export const isPlainMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A plain assignment would take `__proto__` for the prototype. */
export function setOwn<T>(map: Record<string, T>, key: string, value: T): void {
  if (key === '__proto__') {
    Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true });
  } else map[key] = value;
}
