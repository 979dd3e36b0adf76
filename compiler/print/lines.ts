/** Converts offsets to lines and columns, when something is printed. */
import type { SourceText } from '../text/source-text.ts';

export interface Position {
  /** 1-based. */
  readonly line: number;
  /** 1-based, in UTF-16 code units, as in editors and SARIF. */
  readonly column: number;
}

export interface Lines {
  positionOf(source: SourceText, offset: number): Position;
  /** Text of a line (1-based) without its line end. */
  textOf(source: SourceText, line: number): string;
}

/** Caches the line starts of each file. */
export function createLines(): Lines {
  const starts = new Map<string, readonly number[]>();
  const startsOf = (source: SourceText): readonly number[] => {
    const known = starts.get(source.path);
    if (known !== undefined) return known;
    const found = lineStarts(source.text);
    starts.set(source.path, found);
    return found;
  };
  return {
    positionOf: (source, offset) => position(startsOf(source), offset),
    textOf(source, line) {
      const from = startsOf(source)[line - 1] ?? source.text.length;
      const end = startsOf(source)[line] ?? source.text.length + 1;
      return source.text.slice(from, end - 1).replace(/\r$/, '');
    },
  };
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

/** Finds the last line start at or before the offset. */
function position(starts: readonly number[], offset: number): Position {
  let low = 0;
  let high = starts.length;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle;
  }
  return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
}
