/** An entry with one of these characters is a glob. */
export const GLOB = /[*?[{]/;

export const isEventGlob = (entry: string): boolean => GLOB.test(entry);

/** Further names of events, by the name that is sent. */
export type SenderEventNames = Readonly<Record<string, readonly string[]>>;
