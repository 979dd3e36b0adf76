/** Splits a command line into words as a POSIX shell does, with `$'…'` of bash; nothing is expanded. */

const ANSI_ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  0: '\0',
  a: '\x07',
  b: '\b',
  e: '\x1b',
  f: '\f',
  v: '\v',
};
const ANSI_ESCAPE = /\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|[\s\S])/g;

/** One alternative per kind of piece; a word is a run of pieces. */
const PIECE = /\\\r?\n|\\([\s\S])|'([^']*)'|\$'((?:[^'\\]|\\[\s\S])*)'|"((?:[^"\\]|\\[\s\S])*)"|([^\s'"\\]+)|(\s+)/gy;

/** The words, or null when a quotation is not closed. */
export function splitShellWords(text: string): string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  let end = 0;
  for (const match of text.matchAll(PIECE)) {
    if (match.index !== end) return null;
    end = match.index + match[0].length;
    const [, escaped, single, ansi, double, plain, space] = match;
    if (space !== undefined) {
      if (word !== null) words.push(word);
      word = null;
      continue;
    }
    const piece =
      escaped ??
      single ??
      (ansi === undefined ? undefined : unescapeAnsi(ansi)) ??
      (double === undefined ? undefined : unescapeDouble(double)) ??
      plain;
    // A backslash before a line break joins two lines and adds no piece.
    if (piece !== undefined) word = (word ?? '') + piece;
  }
  if (end !== text.length) return null;
  return word === null ? words : [...words, word];
}

/** Inside double quotes a backslash escapes only these. */
function unescapeDouble(text: string): string {
  return text.replace(/\\(\r?\n|["\\$`])/g, (_all, char: string) => (char.endsWith('\n') ? '' : char));
}

function unescapeAnsi(text: string): string {
  return text.replace(ANSI_ESCAPE, (_all, code: string) => {
    if (/^[xu]./.test(code)) return String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return ANSI_ESCAPES[code] ?? code;
  });
}
