/**
 * Removes invisible characters, comments and forged markers from a text (decisions §12). Runs in linear time, because
 * the text is untrusted.
 */
import { UNSEEN } from '../../../../base/unseen.ts';
import type { CleanText } from '../../../../runtime/table/bounded-json.ts';
import { defuseForgedMarkers } from './forged-markers.ts';

/** Anything but visible ASCII and white space, a comment, the markers' name, or a bracket before a possible spelling of it. */
const SUSPICIOUS =
  /[^\t\n\r -~]|<!--|u\s*n\s*t\s*r\s*u\s*s\s*t\s*e\s*d|(?:<|&(?:amp;)*(?:lt|#)|%3c|\\(?:u00|x)3c)(?:[\s/\\._~*'"`,:=+^;-]|(?<=\\)[rt])*(?!(?:ul?|nav)[\s/>])[un0-9$@!&%\\]/i;

/** In UTF-16 units. For texts of this length or more, searching for single characters is faster than one expression. */
const LONG = 512;
const CONTROLS = Array.from({ length: 32 }, (_, code) => String.fromCharCode(code === 0 ? 0x7f : code))
  .filter((character) => !'\t\n\r'.includes(character))
  .concat('\0');
/** What starts a comment, or can precede a name whose letters are separated. */
const OPENINGS = ['<', '&', '%', '\\'];
const NAME = /untrusted/i;

/** False for most texts, which are then returned unchanged. */
function isSuspicious(text: string): boolean {
  if (text.length < LONG) return SUSPICIOUS.test(text);
  const holds = (character: string): boolean => text.includes(character);
  if (Buffer.byteLength(text) > text.length || CONTROLS.some(holds) || NAME.test(text)) return true;
  return OPENINGS.some(holds) && SUSPICIOUS.test(text);
}

/** Lone surrogates as well: removing an invisible character between two of them would join them into a pair. */
const INVISIBLE = new RegExp(String.raw`(?![\t\n\r\u2028\u2029])[${UNSEEN}]`, 'gu');

/** Returns the text cleaned. The order matters: removing one thing must not create what an earlier step looked for. */
export function cleanText(text: string): string {
  if (!isSuspicious(text)) return text;
  return defuseForgedMarkers(withoutComments(text.replace(INVISIBLE, '')));
}

/** How JSON escapes a control character or a lone surrogate. */
const ESCAPED = ['\\u', '\\b', '\\f'];

/**
 * Returns JSON with its strings cleaned. It is first written unchanged, and a second time only if something in it needs
 * cleaning: one search over the whole text is faster than one for each string.
 * @param write returns the JSON, with the function applied to its strings
 */
export function cleanJson(write: (clean: CleanText | null) => string): string {
  const text = write(null);
  const isClean = !isSuspicious(text) && !ESCAPED.some((sequence) => text.includes(sequence));
  return isClean ? text : write(cleanText);
}

/** Removes closed comments. An unclosed opening is defused, because a later text could close it. */
function withoutComments(text: string): string {
  let kept = '';
  let end = 0;
  for (let open = text.indexOf('<!--'); open >= 0; open = text.indexOf('<!--', end)) {
    // Starts at the second character: `<!-->` is a complete comment.
    const close = text.indexOf('-->', open + 2);
    if (close < 0) break;
    kept += text.slice(end, open);
    end = close + 3;
  }
  // Removing a comment from inside the opening of another one leaves that opening.
  return (kept + text.slice(end)).replaceAll('<!--', '<! --');
}
