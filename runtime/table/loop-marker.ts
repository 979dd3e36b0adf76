/**
 * The marker of what hookwright posts: which installation, and for which dispatch. Targets put it where people do not see it
 * and where the service sends it back (catalog/targets). It is no secret and proves nothing: whoever has read one can write it
 * into a text of their own, and then only the event of that text is ignored.
 */

/** Its beginning; a body without it holds no marker. */
export const MARKER_START = 'hookwright:';

/** An installation's id has 20 hexadecimal digits; 80 random bits are not guessed. */
const ID_BYTES = 10;
const MARKER = /hookwright:([0-9a-f]{20}):[0-9a-z]{1,40}/g;

/** @param randomBytes as in node:crypto */
export const createInstallation = (randomBytes: (size: number) => Buffer): string =>
  randomBytes(ID_BYTES).toString('hex');

export const isInstallation = (value: unknown): value is string =>
  typeof value === 'string' && /^[0-9a-f]{20}$/.test(value);

export const markerOf = (installation: string, dispatch: string): string =>
  `${MARKER_START}${installation}:${dispatch}`;

/** Whether the text holds a marker of the same installation as `own`, for a later dispatch: their ids sort by time. */
export function isNewerMarker(text: string, own: string): boolean {
  const start = own.slice(0, own.lastIndexOf(':') + 1);
  return (
    start !== '' &&
    Array.from(text.matchAll(MARKER), ([marker]) => marker).some((marker) => marker.startsWith(start) && marker > own)
  );
}

/** The installations whose markers the texts hold. */
export function markersIn(texts: readonly string[]): ReadonlySet<string> {
  return new Set(texts.flatMap((text) => Array.from(text.matchAll(MARKER), ([, id = '']) => id)));
}

/** Stands for this installation where there is no store: in explanations and tests of a configuration. */
export const EXAMPLE_INSTALLATION = '0'.repeat(2 * ID_BYTES);
