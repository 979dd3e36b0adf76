/** Characters that are not seen, or that change the order of others: one list for whatever shows, quotes or removes a stranger's text. */

/** For a character class with the flag `u`: controls, direction marks, zero-width characters, tags, fillers, line separators, lone surrogates. */
export const UNSEEN = String.raw`\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}\u2028\u2029\uFFF9-\uFFFB\u2800`;

/** Not those that are seen as part of an emoji: a joiner between two pictures, the variation of one. */
const ALONE = String.raw`(?<!\p{Extended_Pictographic}\uFE0F|(?:\p{Extended_Pictographic}\uFE0F?|\p{Emoji_Modifier})\u200D(?=\p{Extended_Pictographic}))`;

/** One of them, where it stands by itself. */
export const UNSEEN_ALONE = `[${UNSEEN}]${ALONE}`;

const EACH = new RegExp(UNSEEN_ALONE, 'gu');
const EACH_BUT_LINES = new RegExp(String.raw`(?![\n\t]|\r\n)${UNSEEN_ALONE}`, 'gu');

/** Shows what is not seen as `\n`, `\t`, `\u202e` or `\u{e0041}`, so that no stored text drives what it is shown on, or reads as another. */
export const showUnseen = (text: string): string => text.replace(EACH, escaped);

/** The same for a text of several lines: line breaks and tabs stay. */
export const showUnseenInLines = (text: string): string => text.replace(EACH_BUT_LINES, escaped);

/** What is said beside a text that is sent as it is, and shown by `showUnseenInLines`; null: it has no such character. */
export function unseenNote(text: string): string | null {
  const count = text.match(EACH_BUT_LINES)?.length ?? 0;
  if (count === 0) return null;
  const which = count === 1 ? '1 character that is not seen' : `${count} characters that are not seen`;
  return `the text has ${which}, shown here as \\u and a number, and sent as in the text`;
}

function escaped(char: string): string {
  if (char === '\n') return '\\n';
  if (char === '\t') return '\\t';
  const code = (char.codePointAt(0) ?? 0).toString(16);
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
}
