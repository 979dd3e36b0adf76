/** Replaces a credential in a kept request. */

const MARKER = /^\[removed: [a-z ]+\]$/;

/** @param what was there: `token`, `signature` */
export const marker = (what: string): string => `[removed: ${what}]`;

/** Whether a value of a kept request stands for a credential that was removed. */
export const isMarker = (value: string): boolean => MARKER.test(value);

/** Stands in bodies, where it may be a part of a longer value. */
export const BODY_MARKER = marker('credential');
