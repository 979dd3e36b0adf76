/** Measures and truncates text by terminal columns, so that carets and table columns line up. */

/** East Asian wide and fullwidth characters (UAX #11), and emoji. */
const WIDE =
  /[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1d300}-\u{1d37f}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u;
const NO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;
const ASCII = /^[\u0020-\u007e]*$/;

/** Created on first use: creating it costs more than measuring most texts. */
let segmenter: Intl.Segmenter | undefined;

function graphemes(text: string): Iterable<{ readonly segment: string }> {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter.segment(text);
}

/** The number of columns that one grapheme takes. */
export const characterWidth = (grapheme: string): number => (NO_WIDTH.test(grapheme) ? 0 : WIDE.test(grapheme) ? 2 : 1);

/**
 * The number of columns that `text` takes. The text must not contain control characters.
 * @param enough stop measuring once the width exceeds this number
 */
export function displayWidth(text: string, enough = Number.POSITIVE_INFINITY): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes(text)) {
    width += characterWidth(segment);
    if (width > enough) break;
  }
  return width;
}

/** Truncates `text` to at most `columns` columns; truncated text ends in an ellipsis. */
export function cutToWidth(text: string, columns: number): string {
  if (columns > 0 && text.length > columns && ASCII.test(text.slice(0, columns + 1))) {
    return `${text.slice(0, columns - 1)}…`;
  }
  if (displayWidth(text, columns) <= columns) return text;
  let kept = '';
  let width = 1;
  for (const { segment } of graphemes(text)) {
    width += characterWidth(segment);
    if (width > columns) break;
    kept += segment;
  }
  return `${kept}…`;
}
