/** Takes out of a text what its readers do not see, and what could pass for a marker (decisions §12). In linear time: the text is a stranger's. */
import { defuseForgedMarkers } from './forged-markers.ts';

/** What becomes of the strings of a value, keys too, before they are written. */
export type CleanText = (text: string) => string;

/** Anything but visible ASCII and white space, a comment, the name of the markers, or a bracket before what could be spelt for it. */
const SUSPICIOUS =
  /[^\t\n\r -~]|<!--|u\s*n\s*t\s*r\s*u\s*s\s*t\s*e\s*d|(?:<|&(?:amp;)*(?:lt|#)|%3c|\\(?:u00|x)3c)(?:[\s/\\._~*'"`,:=+^;-]|(?<=\\)[rt])*(?!(?:ul?|nav)[\s/>])[un0-9$@!&%\\]/i;

/** From this many UTF-16 units on, searches for single characters are quicker than an expression over all of them. */
const LONG = 512;
const CONTROLS = Array.from({ length: 32 }, (_, code) => String.fromCharCode(code === 0 ? 0x7f : code))
  .filter((character) => !'\t\n\r'.includes(character))
  .concat('\0');
/** What comments begin with, and what can stand before a name whose letters are apart. */
const OPENINGS = ['<', '&', '%', '\\'];
const NAME = /untrusted/i;

/** Most texts hold nothing of the kind. */
function isSuspicious(text: string): boolean {
  if (text.length < LONG) return SUSPICIOUS.test(text);
  const holds = (character: string): boolean => text.includes(character);
  if (Buffer.byteLength(text) > text.length || CONTROLS.some(holds) || NAME.test(text)) return true;
  return OPENINGS.some(holds) && SUSPICIOUS.test(text);
}

/**
 * Zero-width and direction characters, soft hyphens, variation selectors, tags, fillers, controls, what Unicode reserves.
 * Halves of surrogate pairs as well: two of them, with an invisible character between, would join to another one.
 */
const INVISIBLE =
  /(?![\t\n\r])[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}\uFFF9-\uFFFB\u2800]/gu;

/** The order matters: what is taken out must not leave behind what a later step looks for. */
export function cleanText(text: string): string {
  if (!isSuspicious(text)) return text;
  return defuseForgedMarkers(withoutComments(text.replace(INVISIBLE, '')));
}

/** Of JSON, what a string may be that has a control or half of a surrogate pair in it. */
const ESCAPED = ['\\u', '\\b', '\\f'];

/**
 * JSON whose strings are cleaned. It is written as it is first, and once more only if something in it needs that: one search of
 * the whole is quicker than one of every string.
 * @param write the JSON, with its strings changed by the function
 */
export function cleanJson(write: (clean: CleanText | null) => string): string {
  const text = write(null);
  const isClean = !isSuspicious(text) && !ESCAPED.some((sequence) => text.includes(sequence));
  return isClean ? text : write(cleanText);
}

/** Without closed comments; the opening of one that is not closed is defused, because a later text could close it. */
function withoutComments(text: string): string {
  let kept = '';
  let end = 0;
  for (let open = text.indexOf('<!--'); open >= 0; open = text.indexOf('<!--', end)) {
    // From the second character on: `<!-->` is a whole comment.
    const close = text.indexOf('-->', open + 2);
    if (close < 0) break;
    kept += text.slice(end, open);
    end = close + 3;
  }
  // A comment within the opening of another leaves that opening behind.
  return (kept + text.slice(end)).replaceAll('<!--', '<! --');
}
