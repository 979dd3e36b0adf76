/** Expands a source file into entries: itself and its variants, each a complete source with its own name. */
import type { SourceFile } from '../../schemas/generated/types.ts';

/** A source, or a variant of one. */
export interface SourceEntry {
  readonly name: string;
  readonly file: SourceFile;
  /** Name of the file that it is a variant of; for the file itself, its own name. */
  readonly parent: string;
}

/** Keys that a variant never inherits: mixing keys of two schemes would make a third one; the last five belong to one name. */
const NOT_INHERITED: ReadonlySet<string> = new Set([
  'verify',
  'signature',
  'encoding',
  'signed',
  'secret',
  'id',
  'timestamp',
  'body_hash',
  'never_with',
  'deprecated',
  'aliases',
  'precedence',
  'delivery_precedence',
  'accepts',
  'notes',
] satisfies (keyof SourceFile)[]);

/** Returns the file itself, then its variants in the order in which they are written. */
export function expandSource(name: string, file: SourceFile): SourceEntry[] {
  const { variants = {}, ...base } = file;
  const inherited = Object.fromEntries(Object.entries(base).filter(([key]) => !NOT_INHERITED.has(key)));
  return [
    { name, file: base, parent: name },
    ...Object.entries(variants).map(
      ([variant, own]): SourceEntry => ({ name: variant, file: { ...inherited, ...own }, parent: name }),
    ),
  ];
}

/** Canonical names by name and alias. Names take precedence over aliases, and earlier entries over later ones. */
export function sourceNames(entries: readonly SourceEntry[]): Map<string, string> {
  const names = new Map(entries.map(({ name }) => [name, name]));
  for (const { name, file } of entries) {
    for (const alias of file.aliases ?? []) if (!names.has(alias)) names.set(alias, name);
  }
  return names;
}
