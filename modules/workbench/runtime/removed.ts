/** The marker that replaces a credential in a kept request. */

const MARKER = /^\[removed: [a-z ]+\]$/;

/** @param what the kind of credential: `token`, `signature` */
export const marker = (what: string): string => `[removed: ${what}]`;

/** Whether a value of a kept request replaces a removed credential. */
export const isMarker = (value: string): boolean => MARKER.test(value);

/** Used in bodies, where it may be part of a longer value. */
export const BODY_MARKER = marker('credential');
