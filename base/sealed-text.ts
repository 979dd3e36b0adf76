/** The prefix of texts that are encrypted with `gateway.store.key`. */
export const SEALED_PREFIX = 'sealed:v1:';

export const isSealed = (text: string): boolean => text.startsWith(SEALED_PREFIX);
