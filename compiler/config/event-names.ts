/** Event names: an entry that contains a wildcard is a glob. */
import { globSource, linkGlob } from '../globs/linear-glob.ts';

const GLOB = /[*?[{]/;

export const isEventGlob = (entry: string): boolean => GLOB.test(entry);

/** Alternative names of events, by the name that is sent. */
export type SenderEventNames = Readonly<Record<string, readonly string[]>>;

/** What an entry of `events` is compared with; null for an invalid glob, which `event-glob` reports. */
export function entryMatcher(entry: string): ((name: string) => boolean) | null {
  if (!isEventGlob(entry)) return (name) => name === entry;
  const source = globSource(entry);
  return typeof source === 'string' ? linkGlob(source) : null;
}

/** Events that a sender documents. */
export interface DocumentedEvents {
  readonly events: readonly string[];
  readonly event_names?: SenderEventNames | undefined;
}

/** The first event that an entry of `events` takes, as its sender names it; null if the sender documents none. */
export function sentFor(entry: string, documented: DocumentedEvents | undefined): string | null {
  const passes = entryMatcher(entry);
  if (documented === undefined || passes === null) return null;
  const further = Object.entries(documented.event_names ?? {}).find(([, names]) => names.some(passes));
  return documented.events.find(passes) ?? further?.[0] ?? null;
}
