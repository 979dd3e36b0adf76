/**
 * Keeps delivered Markdown from notifying people on code hosts: inserts an invisible character after each `@` that could
 * start a mention (in lists, quotes, HTML, links and inline code too), and after each entity that stands for an `@`.
 *
 * Fenced code is not changed: it cannot mention anyone, and suggested changes must stay applicable. A CommonMark parser
 * finds the ends of fences. Code hosts extend CommonMark: after HTML or a footnote outside of code, the parser and the
 * host may disagree, and then nothing counts as code.
 */

/** After a letter or digit, `@` is part of an address (`a@b.c`), unless an entity ends there: `&copy@name` in HTML. */
const MENTION = /(?:(?<![A-Za-z0-9])|(?<=&#?[A-Za-z0-9]{1,40}))@(?=[^ \t\r\n@\u200B])/g;
/** In HTML a numeric entity needs no semicolon. */
const ENTITY = /&(?:#0*64(?![0-9])|#[xX]0*40(?![0-9A-Fa-f])|commat(?=;));?/g;
/** May start something that CommonMark and a code host parse differently, in lists and quotes too. */
const DOUBTFUL = /^[ \t>*+.)\d-]*(?:<[A-Za-z/!?]|\[\^[^\]]*\]:)/;

const MAY_MENTION = /[@&]/;

/** @param options.whole the text is delivered in one piece; otherwise a fence may end with its piece */
export async function quietMentions(text: string, { whole }: { readonly whole: boolean }): Promise<string> {
  if (!MAY_MENTION.test(text)) return text;
  const fenced = whole ? await fencedLines(text) : null;
  if (fenced === null || fenced.size === 0) return quiet(text);
  // Split at the same line ends as the parser, so that its line numbers apply; the ends are kept.
  const lines = text.split(/(?<=\r\n|\n|\r(?!\n))/);
  const isCode = (index: number): boolean => fenced.has(index + 1);
  if (lines.some((line, index) => !isCode(index) && DOUBTFUL.test(line))) return quiet(text);
  return lines.map((line, index) => (isCode(index) ? line : quiet(line))).join('');
}

const quiet = (text: string): string => text.replace(ENTITY, (entity) => `${entity}\u200B`).replace(MENTION, '@\u200B');

/** Longest text that is parsed, in UTF-16 units: no comment is longer, and the event loop must not be blocked. */
const MAX_LENGTH = 65_536;
/** Texts with deeper nesting of lists and quotes are not parsed either, because the time grows with the depth. */
const DEEP = /^[ \t>*+.)\d-]{200}/m;
const FENCE = /`{3}|~{3}/;

/** Line numbers from 1, without the opening fence; null when the text is not parsed. */
async function fencedLines(text: string): Promise<ReadonlySet<number> | null> {
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
