/** Lowers lists of toolset names. Unknown and forbidden names are dropped; rules report them (§2.1). */

/** The only toolsets of webhook runs unless the config grants more: payloads are untrusted (§1.5). */
export const DEFAULT_TOOLSETS: readonly string[] = ['web_search', 'web_extract', 'vision_analyze', 'clarify'];

/** Known toolsets; the value says whether webhook runs may use it. */
export type KnownToolsets = Readonly<Record<string, boolean>>;

/** The toolsets for runs of webhook routes. */
export const webhookToolsets = (names: readonly string[], known: KnownToolsets): string[] =>
  unique(names.filter((name) => Object.hasOwn(known, name) && known[name] === true));

/** The toolsets for runs of jobs, whose prompts come from the config. */
export const jobToolsets = (names: readonly string[], known: KnownToolsets): string[] =>
  unique(names.filter((name) => Object.hasOwn(known, name)));

const unique = (names: readonly string[]): string[] => [...new Set(names)];
