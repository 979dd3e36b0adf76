/** Expands a source file into its entries: itself and its variants, each a complete source with a name of its own. */
import type { SourceFile } from '../../schemas/generated/types.ts';

/** A source by its canonical name. */
export interface SourceEntry {
  readonly name: string;
  readonly file: SourceFile;
  /** Name of the file it is a variant of; its own name when it is none. */
  readonly parent: string;
}

/** The file itself first, then its variants in the order they are written. */
export function expandSource(name: string, file: SourceFile): SourceEntry[] {
  const { variants = {}, ...base } = file;
  const {
    aliases: _aliases,
    precedence: _precedence,
    delivery_precedence: _delivery,
    accepts: _accepts,
    ...shared
  } = base;
  const own: SourceEntry = { name, file: base, parent: name };
  return [
    own,
    ...Object.entries(variants).map(
      ([variant, changes]): SourceEntry => ({
        name: variant,
        file: { ...shared, ...changes },
        parent: name,
      }),
    ),
  ];
}

/** Canonical names by every name a user may write: names win over aliases, earlier entries over later ones. */
export function sourceNames(entries: readonly SourceEntry[]): Map<string, string> {
  const names = new Map(entries.map(({ name }) => [name, name]));
  for (const { name, file } of entries) {
    for (const alias of file.aliases ?? []) if (!names.has(alias)) names.set(alias, name);
  }
  return names;
}
