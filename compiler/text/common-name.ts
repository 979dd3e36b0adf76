/** What people call a service, told from the title of its catalog entry. */

export interface Named {
  readonly title?: string;
  readonly aliases?: readonly string[];
}

/** The alias with which the title begins (`github` for GitHub); the entry's own name when its title holds that, or no alias. */
export function commonName(name: string, { title = '', aliases = [] }: Named): string {
  const whole = letters(title);
  if (whole.includes(letters(name))) return name;
  const found = aliases.filter((alias) => whole.startsWith(letters(alias)));
  return found.sort((a, b) => letters(b).length - letters(a).length)[0] ?? name;
}

const letters = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
