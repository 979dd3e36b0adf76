/** Finds the start of an unclosed quote, because the parser only reports the end of the text. */
import type { Document, YAMLError } from 'yaml';
import { visit } from 'yaml';
import type { TextEdit } from '../diagnostics/diagnostic.ts';
import type { Range } from '../text/source-text.ts';

export interface OpenQuote {
  /** The range from the quote to the end of its line. */
  readonly range: Range;
  readonly quote: '"' | "'";
  /** Closes the quote at the end of the line; empty if a comment may follow the text. */
  readonly fix: readonly TextEdit[];
}

/** Returns null if the parser's error has another cause. */
export function findOpenQuote(text: string, document: Document, { message, pos }: YAMLError): OpenQuote | null {
  const [, quote] = /^Missing closing (["'])quote/.exec(message) ?? [];
  if (quote !== '"' && quote !== "'") return null;
  let start = -1;
  visit(document, {
    Scalar(_, { range }) {
      const from = range?.[0] ?? -1;
      if (text[from] === quote && from < pos[0]) start = Math.max(start, from);
    },
  });
  if (start < 0) return null;
  const lineEnd = text.indexOf('\n', start);
  const written = text.slice(start, lineEnd < 0 ? text.length : lineEnd).trimEnd();
  const end = start + written.length;
  const fix = / #/.test(written) ? [] : [{ range: { start: end, end }, text: quote }];
  return { range: { start, end }, quote, fix };
}
