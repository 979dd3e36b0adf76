/** Finds the quote or bracket that is not closed: the parser reports what follows it, or the end of the text. */
import type { Document, YAMLError } from 'yaml';
import { visit } from 'yaml';
import type { TextEdit } from '../diagnostics/diagnostic.ts';
import type { Range } from '../text/source-text.ts';

export interface OpenEnd {
  readonly range: Range;
  readonly message: string;
  /** Closes a quote at the end of its line, unless a comment may follow the text. */
  readonly fix: readonly TextEdit[];
}

const NOT_CLOSED = /^(?:Missing closing (["'])quote|Flow (sequence|map) in block collection)/;

/** Returns null if the parser's error has another cause. */
export function findOpenEnd(text: string, document: Document, { message, pos }: YAMLError): OpenEnd | null {
  const [found, quote, kind] = NOT_CLOSED.exec(message) ?? [];
  if (found === undefined) return null;
  const [open, close] = kind === 'map' ? ['{', '}'] : ['[', ']'];
  const start =
    quote === undefined ? lastOpen(text.slice(0, pos[0]), open, close) : lastQuote(document, text, quote, pos[0]);
  if (start < 0) return null;
  if (quote === undefined) {
    const asText = kind === 'map' ? ', or put the value in quotes if it is text' : '';
    const said = `this \`${open}\` is not closed: put \`${close}\` where it ends${asText}`;
    return { range: { start, end: start + 1 }, message: said, fix: [] };
  }
  const written = /.*/.exec(text.slice(start))?.[0].trimEnd() ?? '';
  const end = start + written.length;
  return {
    range: { start, end },
    message: `the quote that begins here is not closed: put \`${quote}\` at the end of the text`,
    fix: / #/.test(written) ? [] : [{ range: { start: end, end }, text: quote }],
  };
}

/** The last bracket without its counterpart; -1: there is none. It reads the text, because nodes may be nested deeply. */
function lastOpen(text: string, open: string, close: string): number {
  let depth = 0;
  for (let at = text.length - 1; at >= 0; at -= 1) {
    if (text[at] === close) depth += 1;
    else if (text[at] === open && depth === 0) return at;
    else if (text[at] === open) depth -= 1;
  }
  return -1;
}

/** Where the last scalar in such quotes begins, before this offset; -1: there is none. */
function lastQuote(document: Document, text: string, quote: string, before: number): number {
  let start = -1;
  visit(document, {
    Scalar(_, { range }) {
      const from = range?.[0] ?? -1;
      if (text[from] === quote && from < before) start = Math.max(start, from);
    },
  });
  return start;
}
