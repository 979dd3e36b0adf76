/** Defines the marker that replaces a credential in a captured request. */

const MARKER = /^\[removed: [a-z ]+\]$/;

/** @param what the kind of credential: `token`, `signature` */
export const marker = (what: string): string => `[removed: ${what}]`;

/** Whether a value in a captured request is the marker of a removed credential. */
export const isMarker = (value: string): boolean => MARKER.test(value);

/** The marker in bodies, where it may be part of a longer value. */
export const BODY_MARKER = marker('credential');
