/** Fills in texts, and the texts of JSON, with placeholders `{name}`. */

/** Values by name; undefined: the placeholder has no value here. */
export type PlaceholderValues = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Replaces placeholders for which there is an entry, and leaves all other braces. A text that is only a placeholder becomes its
 * value; within a text, a list is written as JSON. Undefined if a placeholder has no value.
 */
export function fillPlaceholders<T>(template: T, values: PlaceholderValues): T | undefined {
  let isMissing = false;
  const valueNamed = (name: string): string | readonly string[] => {
    const value = values[name];
    isMissing ||= value === undefined;
    return value ?? '';
  };
  const fillText = (text: string): unknown => {
    const [, only] = /^\{([a-z_]+)\}$/.exec(text) ?? [];
    if (only !== undefined && Object.hasOwn(values, only)) return valueNamed(only);
    return text.replace(/\{([a-z_]+)\}/g, (all, name: string) => {
      if (!Object.hasOwn(values, name)) return all;
      const value = valueNamed(name);
      return typeof value === 'string' ? value : JSON.stringify(value);
    });
  };
  const fill = (value: unknown): unknown => {
    if (typeof value === 'string') return fillText(value);
    if (Array.isArray(value)) return value.map(fill);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [String(fillText(key)), fill(member)]));
  };
  const filled = fill(template);
  return isMissing ? undefined : (filled as T);
}

/** A text as it is, anything else as JSON. */
export const textOrJson = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
