/** Typographic quotes around a value, as word processors and chat programs insert them. */
import type { Finding, TextEdit } from '../diagnostics/diagnostic.ts';
import type { Range, SourceText } from '../text/source-text.ts';

/** @param range range of an unquoted scalar */
export function curlyQuotes(source: SourceText, range: Range): readonly Finding[] {
  const written = source.text.slice(range.start, range.end);
  if (!CURLY.test(written)) return [];
  const quote = straightFor(written.slice(1, -1));
  const message = `${written.at(0)}…${written.at(-1)} are not YAML quotes and become part of the text: use straight ones, ${quote ?? '"'}…${quote ?? '"'}`;
  return [{ rule: 'curly-quotes', source, range, message, ...(quote === null ? {} : { fix: straight(range, quote) }) }];
}

const CURLY = /^[“”„‟][^“”„‟]*[“”‟]$|^[‘’‚‛][^‘‚‛]*[‘’‛]$/;

/** Returns null if the text contains both kinds of quotes. */
const straightFor = (text: string): '"' | "'" | null => (!/["\\]/.test(text) ? '"' : text.includes("'") ? null : "'");

const straight = ({ start, end }: Range, text: string): readonly TextEdit[] => [
  { range: { start, end: start + 1 }, text },
  { range: { start: end - 1, end }, text },
];
