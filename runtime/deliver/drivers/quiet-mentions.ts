/**
 * Keeps delivered Markdown from notifying people on code hosts: each `@` that could start a mention is followed by an
 * invisible character, wherever it stands (list, quote, HTML, link, inline code), and so is each entity that becomes one.
 *
 * The content of fenced code stays as it is: nothing is mentioned there, and suggested changes must stay applicable. Where
 * a fence ends is decided by a CommonMark parser. Code hosts know more than CommonMark: where HTML or a footnote begins
 * outside of code, the two may disagree about what follows, and nothing counts as code.
 */
import { fencedLines } from './fenced-lines.ts';

/** After a letter or a digit it is part of an address (`a@b.c`), unless that ends an entity: `&copy@name` in HTML. */
const MENTION = /(?:(?<![A-Za-z0-9])|(?<=&#?[A-Za-z0-9]{1,40}))@(?=[^ \t\r\n@\u200B])/g;
/** In HTML a number needs no semicolon. */
const ENTITY = /&(?:#0*64(?![0-9])|#[xX]0*40(?![0-9A-Fa-f])|commat(?=;));?/g;
/** May begin what CommonMark and a code host read differently, also in lists and quotes. */
const DOUBTFUL = /^[ \t>*+.)\d-]*(?:<[A-Za-z/!?]|\[\^[^\]]*\]:)/;

const MAY_MENTION = /[@&]/;

/** @param options.whole the text is delivered in one piece; a fence does not reach into the next one. */
export async function quietMentions(text: string, { whole }: { readonly whole: boolean }): Promise<string> {
  if (!MAY_MENTION.test(text)) return text;
  const fenced = whole ? await fencedLines(text) : null;
  if (fenced === null || fenced.size === 0) return quiet(text);
  // Line ends are kept: those of the parser, so that its numbers are right.
  const lines = text.split(/(?<=\r\n|\n|\r(?!\n))/);
  const isCode = (index: number): boolean => fenced.has(index + 1);
  if (lines.some((line, index) => !isCode(index) && DOUBTFUL.test(line))) return quiet(text);
  return lines.map((line, index) => (isCode(index) ? line : quiet(line))).join('');
}

const quiet = (text: string): string => text.replace(ENTITY, (entity) => `${entity}\u200B`).replace(MENTION, '@\u200B');
