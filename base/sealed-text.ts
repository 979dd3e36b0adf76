/** How a text is written that `gateway.store.key` has encrypted. */
export const SEALED_PREFIX = 'sealed:v1:';

export const isSealed = (text: string): boolean => text.startsWith(SEALED_PREFIX);
