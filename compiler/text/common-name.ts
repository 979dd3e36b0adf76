/** Derives the usual name of a service from the title of its catalog entry. */

export interface Named {
  readonly title?: string;
  readonly aliases?: readonly string[];
}

/** The alias that the title begins with (`github` for GitHub); else, or if the title contains it, the entry's own name. */
export function commonName(name: string, { title = '', aliases = [] }: Named): string {
  const whole = letters(title);
  if (whole.includes(letters(name))) return name;
  const found = aliases.filter((alias) => whole.startsWith(letters(alias)));
  return found.sort((a, b) => letters(b).length - letters(a).length)[0] ?? name;
}

/** The usual name of a catalog's entry; a name that is not in the catalog stays. @param entries by canonical name */
export const knownName = (name: string, entries: Readonly<Record<string, Named>>): string =>
  Object.hasOwn(entries, name) ? commonName(name, entries[name] ?? {}) : name;

const letters = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
