/** Finds the lines inside the fenced code of a Markdown text. The parser is loaded when a text has a fence. */

/** Longer texts are not parsed, in UTF-16 units: no comment is longer, and nothing on the event loop may take long. */
const MAX_LENGTH = 65_536;
/** Nor are texts that nest lists and quotes this deep: the time grows with the depth. */
const DEEP = /^[ \t>*+.)\d-]{200}/m;
const FENCE = /`{3}|~{3}/;

/** Numbers of the lines, 1-based, without that of the opening fence; null when it is not known. */
export async function fencedLines(text: string): Promise<ReadonlySet<number> | null> {
  if (!FENCE.test(text)) return new Set();
  if (text.length > MAX_LENGTH || DEEP.test(text)) return null;
  const { Parser } = await import('commonmark');
  // Blocks are enough: links alone can take seconds on hostile text.
  const parser = Object.assign(new Parser(), { processInlines: () => undefined });
  const lines = new Set<number>();
  const walker = parser.parse(text).walker();
  for (let step = walker.next(); step !== null; step = walker.next()) {
    const { type, info, sourcepos } = step.node;
    // Indented code has no info string, not even an empty one.
    if (type !== 'code_block' || info === null) continue;
    const [[first], [last]] = sourcepos;
    for (let line = first + 1; line <= last; line++) lines.add(line);
  }
  return lines;
}
