/** Finds what reads as the markers' name after an angle bracket. An unknown character counts as the right letter. */
import { foldCharacter, NOTHING, OTHER_CHARACTER } from './fold-text.ts';

/** Searched in folded text. The group holds what is between the bracket and the name. */
const OPENER = new RegExp(`(?:<|&(?:amp;)*(?:lt|#0*60|#x0*3c);?|%3c|/u003c|/x3c)([ /${NOTHING}]*)`, 'g');
/** Characters that people write in place of letters. */
const WILD = new RegExp(`[0-9$@!${OTHER_CHARACTER}]`);
const SKIPPED = new RegExp(`[ /._~*'"\`,:=+^${NOTHING}-]`);
const ESCAPE =
  /&(?:amp;)*#(?:x0*([0-9a-f]{1,6})|0*([0-9]{1,7}));?|&[a-z]{2,31};|%([0-9a-f]{2})|\/(?:u|x)([0-9a-f]{4}|[0-9a-f]{2})/y;
const ID_BEHIND = new RegExp(`[ ${NOTHING}]*[-_:=.#~]{1,3}[ ${NOTHING}]*[0-9a-f]{6}`, 'y');
const CONTINUES = new RegExp(`[a-z0-9${OTHER_CHARACTER}]`);

/** Most characters that may be other than ASCII letters, when neither a slash nor an id shows that a marker is meant. */
const MOST_WILD = 5;

export interface OpenedName {
  readonly start: number;
  readonly end: number;
}

/** Returns the names in text order. Runs in linear time: a name ends before the next bracket. */
export function openedNames(folded: string, name: string): readonly OpenedName[] {
  return [...folded.matchAll(OPENER)].flatMap((opener): readonly OpenedName[] => {
    const start = opener.index + opener[0].length;
    const end = endOfName(folded, start, { name, isClosing: opener[1]?.includes('/') === true });
    return end === null ? [] : [{ start, end }];
  });
}

interface Wanted {
  readonly name: string;
  readonly isClosing: boolean;
}

/** The index after the name; null: it is another word. */
function endOfName(folded: string, start: number, { name, isClosing }: Wanted): number | null {
  // Edit distance to each prefix of the name.
  let row = Array.from({ length: name.length + 1 }, (_, index) => index);
  let [digits, wild, best, end] = [0, 0, 2, start];
  for (let index = start; index < folded.length; ) {
    const { letter, length } = tokenAt(folded, index);
    // `x <= untrusted` is a comparison.
    if (letter === null || (folded[index] === '=' && row[0] === 0)) break;
    index += length;
    if (letter === '') continue;
    const isWild = WILD.test(letter);
    if (index - length === start && !isWild && letter !== name[0] && letter !== name[1]) return null;
    if (isWild) wild++;
    if (/\d/.test(letter)) digits++;
    row = nextRow(row, name, isWild ? null : letter);
    if (Math.min(...row) > 1) break;
    const errors = row[name.length] ?? 2;
    if (errors < best && !CONTINUES.test(folded[index] ?? ' ')) [best, end] = [errors, index];
  }
  ID_BEHIND.lastIndex = end;
  const isMarker = isClosing || ID_BEHIND.test(folded);
  return best <= (isMarker ? 1 : 0) && digits <= MOST_WILD && (isMarker || wild <= MOST_WILD) ? end : null;
}

interface Token {
  /** Empty: skipped by a reader. null: cannot be part of the name. */
  readonly letter: string | null;
  readonly length: number;
}

function tokenAt(folded: string, index: number): Token {
  const character = folded[index] ?? '';
  if (character === '&' || character === '%' || character === '/') {
    ESCAPE.lastIndex = index;
    const found = ESCAPE.exec(folded);
    if (found !== null) return { letter: unescaped(found), length: found[0].length };
  }
  if (SKIPPED.test(character)) return { letter: '', length: 1 };
  return { letter: /[a-z]/.test(character) || WILD.test(character) ? character : null, length: 1 };
}

function unescaped([, hex, decimal, byte, unit]: RegExpExecArray): string | null {
  const code = decimal === undefined ? Number.parseInt(hex ?? byte ?? unit ?? '', 16) : Number(decimal);
  if (Number.isNaN(code) || code > 0x10ffff) return OTHER_CHARACTER;
  const folded = foldCharacter(code);
  if (SKIPPED.test(folded)) return '';
  return /[a-z]/.test(folded) || WILD.test(folded) ? folded : null;
}

/** The next row of the edit distance. @param letter null: it may be any */
function nextRow(row: readonly number[], name: string, letter: string | null): number[] {
  const next = [(row[0] ?? 0) + 1];
  for (let at = 1; at <= name.length; at++) {
    const cost = letter === null || letter === name[at - 1] ? 0 : 1;
    next.push(Math.min((row[at - 1] ?? 0) + cost, (row[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1));
  }
  return next;
}
