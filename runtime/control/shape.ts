/** Shapes of what goes over the control socket: each side checks what the other, or another program, has sent. */

/** Returns the path of the first field that is missing or has the wrong type; null when the value has the shape. */
export type WireShape = (value: unknown, path: string) => string | null;

export const kind =
  (holds: (value: unknown) => boolean): WireShape =>
  (value, path) =>
    holds(value) ? null : path;

export const textShape = kind((value) => typeof value === 'string');
export const number = kind((value) => typeof value === 'number');
export const flagShape = kind((value) => typeof value === 'boolean');

export const nullable =
  (shape: WireShape): WireShape =>
  (value, path) =>
    value === null ? null : shape(value, path);

export const listOf =
  (shape: WireShape): WireShape =>
  (value, path) => {
    if (!Array.isArray(value)) return path;
    for (const [index, member] of value.entries()) {
      const wrong = shape(member, `${path}[${index}]`);
      if (wrong !== null) return wrong;
    }
    return null;
  };

export const object =
  (fields: Readonly<Record<string, WireShape>>): WireShape =>
  (value, path) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return path;
    for (const [name, shape] of Object.entries(fields)) {
      const found = Object.hasOwn(value, name) ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
      const wrong = shape(found, `${path}.${name}`);
      if (wrong !== null) return wrong;
    }
    return null;
  };

/** A member that may be missing. */
export const optional =
  (shape: WireShape): WireShape =>
  (value, path) =>
    value === undefined ? null : shape(value, path);

export const among = (...values: readonly unknown[]): WireShape => kind((value) => values.includes(value));

/** An object whose `kind` says which shape it has. */
export const byKind =
  (shapes: Readonly<Record<string, WireShape>>): WireShape =>
  (value, path) => {
    const named = typeof value === 'object' && value !== null && 'kind' in value ? value.kind : null;
    if (typeof named !== 'string' || !Object.hasOwn(shapes, named)) return `${path}.kind`;
    return shapes[named]?.(value, path) ?? null;
  };
