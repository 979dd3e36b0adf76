/** Cuts the text of a JSON object into smaller objects, so that a long one can be processed in pieces. */

const NO_OBJECT = '{,}';
const QUOTE = '"';
/** The characters at which the search stops; all others are inside values. */
const MARK = /["{}[\],]/g;

/**
 * Yields objects of about `size` characters, or of one member; together they hold all members, in order. A text that is
 * not an object is yielded unchanged, for a parser to report. Cutting never makes an invalid text valid.
 */
export function* splitObject(text: string, size: number): Generator<string, void> {
  const start = text.search(/\S/);
  const end = lastNonBlank(text);
  if (text[start] !== '{' || text[end] !== '}' || isBlank(text, start + 1, end)) {
    yield text;
    return;
  }
  let from = start + 1;
  for (const comma of memberEnds(text, from, end)) {
    const isLast = comma === end;
    if (!isLast && comma - from < size) continue;
    // An extra comma must not disappear with its empty piece.
    yield isBlank(text, from, comma) ? NO_OBJECT : `{${text.slice(from, comma)}}`;
    from = comma + 1;
    if (isLast) return;
  }
  // The brackets do not match: the rest, too, must be refused.
  yield `{${text.slice(from)}`;
}

/** Indexes of the commas between members, then `end`; stops early where brackets do not match. */
function* memberEnds(text: string, from: number, end: number): Generator<number, void> {
  const mark = new RegExp(MARK);
  mark.lastIndex = from;
  let depth = 0;
  for (let match = mark.exec(text); match !== null && match.index < end; match = mark.exec(text)) {
    const [character] = match;
    if (character === QUOTE) mark.lastIndex = endOfString(text, match.index) + 1;
    else if (character === '{' || character === '[') depth++;
    else if (character !== ',') depth--;
    else if (depth === 0) yield match.index;
    if (depth < 0) return;
  }
  if (depth === 0) yield end;
}

/** Index of the closing quote of the string that begins at `start`; the length of the text when there is none. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf(QUOTE, start + 1); end >= 0; end = text.indexOf(QUOTE, end + 1)) {
    let slashes = end - 1;
    while (text[slashes] === '\\') slashes--;
    if ((end - slashes) % 2 === 1) return end;
  }
  return text.length;
}

function lastNonBlank(text: string): number {
  let at = text.length - 1;
  while (at >= 0 && /\s/.test(text[at] ?? '')) at--;
  return at;
}

function isBlank(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (!/\s/.test(text[at] ?? '')) return false;
  return true;
}
