/** Converts offsets to lines and columns, when something is printed. */
import { LineCounter } from 'yaml';
import type { Range, SourceText } from '../text/source-text.ts';

export interface Position {
  /** 1-based. */
  readonly line: number;
  /** 1-based, in UTF-16 code units, as in editors and SARIF. */
  readonly column: number;
}

export interface Lines {
  positionOf(source: SourceText, offset: number): Position;
  spanOf(source: SourceText, range: Range): { readonly start: Position; readonly end: Position };
  /** Text of a line (1-based) without its line end. */
  textOf(source: SourceText, line: number): string;
}

/** Caches the line starts of each file. */
export function createLines(): Lines {
  const counters = new Map<string, LineCounter>();
  const counterOf = (source: SourceText): LineCounter => {
    const counter = counters.get(source.path) ?? countLines(source.text);
    counters.set(source.path, counter);
    return counter;
  };
  const positionOf = (source: SourceText, offset: number): Position => {
    const { line, col } = counterOf(source).linePos(offset);
    return { line, column: col };
  };
  return {
    positionOf,
    spanOf: (source, { start, end }) => ({ start: positionOf(source, start), end: positionOf(source, end) }),
    textOf(source, line) {
      const { lineStarts } = counterOf(source);
      const from = lineStarts[line - 1] ?? source.text.length;
      const end = lineStarts[line] ?? source.text.length + 1;
      return source.text.slice(from, end - 1).replace(/\r$/, '');
    },
  };
}

function countLines(text: string): LineCounter {
  const counter = new LineCounter();
  counter.addNewLine(0);
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) counter.addNewLine(at + 1);
  return counter;
}
