/** Shows the changes that a command is about to make in a text file, line by line. */
import type { Paint } from '../../base/paint.ts';
import { visible } from './print.ts';

type Edit = readonly [sign: ' ' | '-' | '+', line: string];

/** Unchanged lines shown around a change. */
const CONTEXT = 2;

/** The changed lines with some context; empty if the texts are equal. */
export function formatDiff(before: string, after: string, paint: Paint): string[] {
  const edits = diffLines(splitLines(before), splitLines(after));
  const near = edits.map((_, at) =>
    edits.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(([sign]) => sign !== ' '),
  );
  const lines: string[] = [];
  edits.forEach(([sign, line], at) => {
    if (near[at] !== true) {
      if (near[at - 1] === true) lines.push(paint('dim', '  …'));
      return;
    }
    const text = `${sign} ${visible(line)}`;
    lines.push(sign === ' ' ? paint('dim', text) : paint(sign === '+' ? 'green' : 'red', text));
  });
  return lines;
}

const splitLines = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

/** Longest common subsequence; the files are a person's configuration, so its square cost does not matter. */
function diffLines(a: readonly string[], b: readonly string[]): Edit[] {
  const common: number[][] = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  const at = (i: number, j: number): number => common[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    const row = common[i] ?? [];
    for (let j = b.length - 1; j >= 0; j -= 1)
      row[j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  }
  const edits: Edit[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const [left, right] = [a[i], b[j]];
    if (left !== undefined && left === right) {
      edits.push([' ', left]);
      i += 1;
      j += 1;
    } else if (left !== undefined && (right === undefined || at(i + 1, j) >= at(i, j + 1))) {
      edits.push(['-', left]);
      i += 1;
    } else if (right !== undefined) {
      edits.push(['+', right]);
      j += 1;
    }
  }
  return edits;
}
