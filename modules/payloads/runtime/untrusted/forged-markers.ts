/** Finds what could pass for a marker in a text, in any spelling that looks or reads the same, and replaces it. */
import { foldText, NOTHING } from './fold-text.ts';
import { openedNames } from './opened-names.ts';

/** The tag name of the markers, before the id. */
export const MARKER_NAME = 'untrusted';

const REPLACEMENT = '[marker removed]';

/** For folded text: the letters adjacent, whatever combining marks they have, and the letters separated. */
const CLOSE_NAME = `${[...MARKER_NAME].join(`${NOTHING}*`)}${NOTHING}*`;
const LOOSE_NAME = `${[...MARKER_NAME].join(`[ ${NOTHING}]*`)}${NOTHING}*`;
const GAP = `[ ${NOTHING}]*`;
const SLASHES = `[ /${NOTHING}]*`;
const OPENING = '(?:<|&lt;|&#0*60;|&#x0*3c;|%3c|/u003c|/x3c)';
const ID_START = `(?:[0-9a-f]${GAP}){6}`;

/** The name is allowed in prose: "(untrusted)", "untrusted input". */
const FORGED = new RegExp(
  // The name comes first, so that the look-behinds run only there and the search stays linear.
  `(?=${LOOSE_NAME})(?:${[
    `(?<=${OPENING}${SLASHES})${LOOSE_NAME}`, //               <untrusted  </ u n t r u s t e d  &lt;untrusted
    `(?<=[([{|;]${GAP}/${SLASHES})${CLOSE_NAME}`, //           [/untrusted
    `${CLOSE_NAME}(?=${GAP}[-_:=.#~]{1,3}${GAP}${ID_START})`, // untrusted-0f3a9c
  ].join('|')})`,
  'g',
);

export function defuseForgedMarkers(text: string): string {
  const folded = foldText(text);
  const found = [...folded.matchAll(FORGED)].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
  }));
  const plain = replaced(text, found);
  return replaced(plain, openedNames(plain === text ? folded : foldText(plain), MARKER_NAME));
}

/** @param places sorted, not overlapping */
function replaced(text: string, places: readonly { readonly start: number; readonly end: number }[]): string {
  let defused = '';
  let at = 0;
  for (const { start, end } of places) {
    defused += text.slice(at, start) + REPLACEMENT;
    at = end;
  }
  return at === 0 ? text : defused + text.slice(at);
}
