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
  const [open, close] = quote !== undefined ? [quote, quote] : kind === 'map' ? ['{', '}'] : ['[', ']'];
  let start = -1;
  visit(document, {
    Node(_, { range }) {
      const [from, to] = range ?? [-1, -1];
      const isOpen = text[from] === open && (quote !== undefined || text[to - 1] !== close);
      if (isOpen && from < pos[0]) start = Math.max(start, from);
    },
  });
  if (found === undefined || start < 0) return null;
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
