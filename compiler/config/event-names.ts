/** Event names: an entry that contains a wildcard is a glob. */
export const GLOB = /[*?[{]/;

export const isEventGlob = (entry: string): boolean => GLOB.test(entry);

/** Alternative names of events, by the name that is sent. */
export type SenderEventNames = Readonly<Record<string, readonly string[]>>;
