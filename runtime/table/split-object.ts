/** Cuts the text of a JSON object into smaller objects, so that long ones are taken in piece by piece. */

const NO_OBJECT = '{,}';
const QUOTE = '"';
/** What the search stops at; everything else is the inside of a value. */
const MARK = /["{}[\],]/g;

/**
 * Objects of some members each, of about `size` characters or one member; together they hold all of them, in order. What is no
 * object comes as it is, for a parser to say what is wrong; no text becomes valid by being cut.
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
    // A comma too many would be gone with its piece.
    yield isBlank(text, from, comma) ? NO_OBJECT : `{${text.slice(from, comma)}}`;
    from = comma + 1;
    if (isLast) return;
  }
  // The brackets do not match: the rest is refused as well.
  yield `{${text.slice(from)}`;
}

/** Places of the commas between members, then `end`; ends early where brackets do not match. */
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

/** The closing quote of the string that begins at `start`; the text's end without one. */
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
