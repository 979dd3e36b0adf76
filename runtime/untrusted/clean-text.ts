/** Takes out of a text what its readers do not see, and what could pass for a marker (decisions §12). In linear time: the text is a stranger's. */
import { defuseForgedMarkers } from './forged-markers.ts';

/** Most texts hold nothing of the kind, and are returned as they are. */
const MAY_NEED_CLEANING = /[^\t\n\r -~]|<!--|u\s*n\s*t\s*r\s*u\s*s\s*t\s*e\s*d/i;

/**
 * Zero-width and direction characters, soft hyphens, variation selectors, tags, fillers, controls, what Unicode reserves.
 * Halves of surrogate pairs as well: two of them, with an invisible character between, would join to another one.
 */
const INVISIBLE =
  /(?![\t\n\r])[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}\uFFF9-\uFFFB\u2800]/gu;

/** The order matters: what is taken out must not leave behind what a later step looks for. */
export function cleanText(text: string): string {
  if (!MAY_NEED_CLEANING.test(text)) return text;
  return defuseForgedMarkers(withoutComments(text.replace(INVISIBLE, '')));
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
