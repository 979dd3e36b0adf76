/** Finds and fills `{name}` in schedules and prompts of blueprints, in one pass: values are never expanded again. */

const PLACEHOLDER = /\{([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)\}/g;

export interface BlueprintPlaceholder {
  readonly name: string;
  /** UTF-16 offset of the opening brace. */
  readonly offset: number;
  readonly length: number;
}

/** Finds all placeholders, in text order. */
export function findPlaceholders(text: string): readonly BlueprintPlaceholder[] {
  return [...text.matchAll(PLACEHOLDER)].map((match) => ({
    name: match[1] ?? '',
    offset: match.index,
    length: match[0].length,
  }));
}

/** Placeholders without a value are left unchanged. */
export function fillPlaceholders(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(PLACEHOLDER, (whole, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? '') : whole,
  );
}
