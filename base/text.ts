/** Text as people see it. */

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

/** For a character class with the flag `u`: controls, direction marks, zero-width characters, tags, fillers, line separators, lone surrogates. */
export const INVISIBLE = String.raw`\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}\u2028\u2029\uFFF9-\uFFFB\u2800`;

/** Excludes those within an emoji: a joiner between two pictures, or a variation selector. */
const ALONE = String.raw`(?<!\p{Extended_Pictographic}\uFE0F|(?:\p{Extended_Pictographic}\uFE0F?|\p{Emoji_Modifier})\u200D(?=\p{Extended_Pictographic}))`;

/** An invisible character outside an emoji. */
export const INVISIBLE_ALONE = `[${INVISIBLE}]${ALONE}`;

/** Matches a text that is not blank. Schemas contain it as a pattern. */
export const VISIBLE = String.raw`[^\s${INVISIBLE}]`;

const ANY_VISIBLE = new RegExp(VISIBLE, 'u');

/** True if nothing of the text can be seen. */
export const isBlank = (text: string): boolean => !ANY_VISIBLE.test(text);

const EACH = new RegExp(INVISIBLE_ALONE, 'gu');
const EACH_BUT_LINES = new RegExp(String.raw`(?![\n\t]|\r\n)${INVISIBLE_ALONE}`, 'gu');

/** Escapes invisible characters, as `\n`, `\t`, `\u202e` or `\u{e0041}`: stored text can neither control a terminal nor look like another text. */
export const escapeInvisible = (text: string): string => text.replace(EACH, escaped);

/** The same, except for line breaks and tabs. */
export const escapeInvisibleInLines = (text: string): string => text.replace(EACH_BUT_LINES, escaped);

/**
 * A block in which no renderer reads markup. Runs of backticks are escaped, too: some services end a block at the first three,
 * however long its fence is. So are spaces that push the rest of a line out of the window.
 * @param most size of the shown text; the rest is cut
 */
export function codeBlock(text: string, most = Number.POSITIVE_INFINITY): string {
  const shown = escapeInvisibleInLines(text).replace(/`{3,}|[\p{Zs}\t]{80,}/gu, (run) => run.replace(/./gu, escaped));
  const kept = startOf(shown, most);
  return `\`\`\`\n${kept === shown ? shown : `${kept}…`}\n\`\`\``;
}

/** Largest size of a character: UTF-8 bytes, and what targets add to punctuation, such as `&amp;` for `&`. */
const sizeOf = (char: string): number =>
  /[\w\s]/.test(char) ? 1 : /\p{ASCII}/u.test(char) ? 5 : char < '\u0800' ? 2 : 4;

function startOf(text: string, most: number): string {
  let [size, end] = [0, 0];
  for (const char of text) {
    size += sizeOf(char);
    if (size > most) return text.slice(0, end);
    end += char.length;
  }
  return text;
}

/** Letters and digits, joined by what means nothing in between: no address, shortcode, reference, emoticon or emphasis. */
const TERM = String.raw`\p{L}[\p{L}\d]*(?:(?:['=]|(?<=\w)_(?=\d|[A-Za-z\d]{2})|(?<=\p{L}{2})[-/](?=\p{L}{2}))[\p{L}\d]+)*|\d+(?:\.\d+)?|\d{4}-\d\d-\d\d|\d\d:\d\d`;
/** Parentheses and colons next to single characters are emoticons; around one word, codes: `(c)`, `(beer)`. */
const WORD = String.raw`(?:["']|\((?=\p{L})(?![^ =]*\)))?(?:${TERM})%?["']?(?:(?<=[^ ]{2})\))?["']?(?:[.,;?]|(?<=[^ ]{2}|\d):)?`;
/** A command of the gateway; the number of an account or telephone; a commit; an emoticon; an invisible letter. */
const READ = String.raw`hookwright|www\.|\d(?:[^\p{L}\d-]{0,3}\d){6}|(?<!\w)(?:[\da-f]{7,40}|x[dp]|o_0)(?!\w)|[${INVISIBLE}]`;

/** Words on one line that no renderer changes: without markup, links, emoji, mentions, and the number of a list item. */
const PLAIN = new RegExp(String.raw`^(?!.*(?:${READ}))(?=\p{L}|\d+ \p{L})${WORD}(?: ${WORD})*$`, 'iu');

/** Size of what is shown of a text: with the gateway's own lines it is one message of any target, of which no part begins outside of its block. */
const MOST = 640;

const isPlain = (text: string): boolean => startOf(text, MOST) === text && PLAIN.test(text);

/** A text that strangers may have chosen, as no renderer changes it. */
export const inert = (text: string): string => (isPlain(text) ? text : codeBlock(text, MOST));

/** A first line, about whom it is, and more. */
export const inertLines = (title: string, subject: string, more: string): string =>
  isPlain(subject) ? `${title}: ${subject}\n${inert(more)}` : `${title}\n${codeBlock(`${subject}\n${more}`, 2 * MOST)}`;

/** The note next to a text that is sent unchanged and displayed by `escapeInvisibleInLines`; null if it has no such character. */
export function invisibleNote(text: string): string | null {
  const count = text.match(EACH_BUT_LINES)?.length ?? 0;
  if (count === 0) return null;
  const which = count === 1 ? '1 invisible character' : `${count} invisible characters`;
  return `the text has ${which}, shown here as \\u escapes and sent unchanged`;
}

function escaped(char: string): string {
  if (char === '\n') return '\\n';
  if (char === '\t') return '\\t';
  const code = (char.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
}

/*
 * Tables and stores contain canonical names of targets and schemes. A label stores the name as written, so that each
 * route, job and entry is displayed with the name that it uses.
 */

/** The name of a target as this route, job or row writes it. */
export const targetLabel = ({ target, label }: { readonly target: string; readonly label?: string }): string =>
  label ?? target;

/** The name of the entry under `platforms` that configures the target in this profile, else its canonical name. */
export const entryLabel = (
  { targets }: { readonly targets: Readonly<Record<string, { readonly label?: string }>> },
  target: string,
): string => (Object.hasOwn(targets, target) ? targets[target]?.label : undefined) ?? target;

/** The name of a scheme as this route writes it. */
export const schemeLabel = (
  { labels = {} }: { readonly labels?: Readonly<Record<string, string>> | undefined },
  scheme: string,
): string => (Object.hasOwn(labels, scheme) ? labels[scheme] : undefined) ?? scheme;

/** `2026-11-28 03:30 UTC`. @param at Unix ms */
export const utcTime = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** Whether a text of this content type is JSON: `application/json`, `application/problem+json; charset=utf-8`. */
export const isJsonType = (contentType: string): boolean => /[/+]json\s*(?:;|$)/i.test(contentType);

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
