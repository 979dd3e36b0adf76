/** Lowers lists of toolset names: unknown and barred ones are dropped; the rules say so (§2.1). */

/** Webhook runs get these and no more unless the config says otherwise: payloads are untrusted (§1.5). */
export const DEFAULT_TOOLSETS: readonly string[] = ['web_search', 'web_extract', 'vision_analyze', 'clarify'];

/** Known toolsets; true: webhook runs may use it. */
export type KnownToolsets = Readonly<Record<string, boolean>>;

/** For runs of webhook routes. */
export const webhookToolsets = (names: readonly string[], known: KnownToolsets): string[] =>
  unique(names.filter((name) => Object.hasOwn(known, name) && known[name] === true));

/** For runs of scheduled jobs, whose prompts come from the config. */
export const jobToolsets = (names: readonly string[], known: KnownToolsets): string[] =>
  unique(names.filter((name) => Object.hasOwn(known, name)));

const unique = (names: readonly string[]): string[] => [...new Set(names)];
