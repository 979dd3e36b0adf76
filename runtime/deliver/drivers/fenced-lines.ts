/** Finds the lines of a Markdown text that are inside fenced code. The parser is loaded when a text has a fence. */

/** Longest text that is parsed, in UTF-16 units: no comment is longer, and the event loop must not be blocked. */
const MAX_LENGTH = 65_536;
/** Texts with deeper nesting of lists and quotes are not parsed either, because the time grows with the depth. */
const DEEP = /^[ \t>*+.)\d-]{200}/m;
const FENCE = /`{3}|~{3}/;

/** Line numbers from 1, without the opening fence; null when the text is not parsed. */
export async function fencedLines(text: string): Promise<ReadonlySet<number> | null> {
  if (!FENCE.test(text)) return new Set();
  if (text.length > MAX_LENGTH || DEEP.test(text)) return null;
  const { Parser } = await import('commonmark');
  // Only blocks are parsed: parsing links can take seconds on hostile text.
  const parser = Object.assign(new Parser(), { processInlines: () => undefined });
  const lines = new Set<number>();
  const walker = parser.parse(text).walker();
  for (let step = walker.next(); step !== null; step = walker.next()) {
    const { type, info, sourcepos } = step.node;
    // Indented code has no info string, while fenced code has at least an empty one.
    if (type !== 'code_block' || info === null) continue;
    const [[first], [last]] = sourcepos;
    for (let line = first + 1; line <= last; line++) lines.add(line);
  }
  return lines;
}
