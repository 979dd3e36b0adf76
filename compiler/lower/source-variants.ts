/** Expands a source file into its entries: itself and its variants, each a complete source with a name of its own. */
import type { SourceFile } from '../../schemas/generated/types.ts';

/** A source by its canonical name. */
export interface SourceEntry {
  readonly name: string;
  readonly file: SourceFile;
  /** Name of the file it is a variant of; its own name when it is none. */
  readonly parent: string;
}

/** What a variant states in full: half of one scheme with half of another would be a third one. */
type SchemeKey =
  | 'verify'
  | 'signature'
  | 'encoding'
  | 'signed'
  | 'secret'
  | 'id'
  | 'timestamp'
  | 'body_hash'
  | 'never_with'
  | 'deprecated';
/** What belongs to a name and is not inherited. */
type OwnKey = 'aliases' | 'precedence' | 'delivery_precedence' | 'accepts' | 'notes';

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
] satisfies (SchemeKey | OwnKey)[]);

/** The file itself first, then its variants in the order they are written. */
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

/** Canonical names by every name a user may write: names win over aliases, earlier entries over later ones. */
export function sourceNames(entries: readonly SourceEntry[]): Map<string, string> {
  const names = new Map(entries.map(({ name }) => [name, name]));
  for (const { name, file } of entries) {
    for (const alias of file.aliases ?? []) if (!names.has(alias)) names.set(alias, name);
  }
  return names;
}
