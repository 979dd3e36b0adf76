/** Finds a `[` or `{` that is not closed: YAML complains about the line that follows. */
import type { YAMLError } from 'yaml';
import type { Range } from '../text/source-text.ts';

/** The parser's error for a key below an open list or map. */
const NOT_CLOSED = /^Flow (sequence|map) in block collection/;

interface OpenBracket {
  readonly range: Range;
  readonly message: string;
}

/** Returns null if the complaint has another cause. */
export function findOpenBracket(text: string, { message, pos }: YAMLError): OpenBracket | null {
  const kind = NOT_CLOSED.exec(message)?.[1];
  if (kind === undefined) return null;
  const [open, close] = kind === 'map' ? ['{', '}'] : ['[', ']'];
  const start = lastOpen(text.slice(0, pos[0]), open, close);
  if (start < 0) return null;
  const asText = kind === 'map' ? ', or put the value in quotes if it is text' : '';
  const range = { start, end: start + 1 };
  return { range, message: `this \`${open}\` is not closed: put \`${close}\` where it ends${asText}` };
}

function lastOpen(text: string, open: string, close: string): number {
  let depth = 0;
  for (let at = text.length - 1; at >= 0; at -= 1) {
    if (text[at] === close) depth += 1;
    else if (text[at] === open && depth === 0) return at;
    else if (text[at] === open) depth -= 1;
  }
  return -1;
}
