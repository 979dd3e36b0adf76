/** Prints the source line of a diagnostic, with carets below its range. */
import { characterWidth, cutToWidth, displayWidth } from '../../base/display-width.ts';
import type { Range, SourceText } from '../text/source-text.ts';
import type { Lines } from './lines.ts';
import type { SafeLine } from './safe-lines.ts';

export interface FrameOptions {
  readonly lines: Lines;
  readonly safeLine: SafeLine;
  /** Width available for the frame, in terminal columns. */
  readonly width: number;
}

export interface Frame {
  /** `12 | ` and blanks of the same width. */
  readonly gutter: string;
  readonly margin: string;
  readonly code: string;
  /** The spaces before the carets, then one `^` per column of the range on this line. */
  readonly indent: string;
  readonly carets: string;
}

const TAB = '    ';
const ELLIPSIS = '…';

/** Returns null if there is no text to show: the file is empty or could not be read. */
export function codeFrame(source: SourceText, range: Range, options: FrameOptions): Frame | null {
  if (source.text === '') return null;
  const { line, column } = options.lines.positionOf(source, range.start);
  const text = options.safeLine(source, line);
  const marked = text.slice(column - 1, column - 1 + range.end - range.start).trimEnd();
  const before = expandTabs(text.slice(0, column - 1));
  const middle = expandTabs(marked);
  const after = expandTabs(text.slice(column - 1 + marked.length));
  const number = String(line).padStart(4);
  const room = Math.max(20, options.width - number.length - 3);
  const cut = fit({ before, middle, after }, room);
  return {
    gutter: `${number} | `,
    margin: `${' '.repeat(number.length)} | `,
    code: (cut.before + cut.middle + cut.after).trimEnd(),
    indent: ' '.repeat(displayWidth(cut.before)),
    carets: '^'.repeat(Math.max(1, displayWidth(cut.middle))),
  };
}

const expandTabs = (text: string): string => text.replaceAll('\t', TAB);

interface Cut {
  readonly before: string;
  readonly middle: string;
  readonly after: string;
}

/** Truncates a long line on both sides of the marked part. */
function fit({ before, middle, after }: Cut, room: number): Cut {
  if (displayWidth(before + middle + after, room) <= room) return { before, middle, after };
  const kept = { middle: cutToWidth(middle, Math.floor(room * 0.6)), before };
  const rest = room - displayWidth(kept.middle);
  if (displayWidth(before, rest) > rest * 0.7) kept.before = tail(before, Math.floor(rest * 0.6));
  return { ...kept, after: cutToWidth(after, Math.max(0, rest - displayWidth(kept.before))) };
}

function tail(text: string, room: number): string {
  let start = text.length;
  let width = 1;
  while (start > 0) {
    const before = lastCharacter(text, start);
    width += characterWidth(before);
    if (width > room) break;
    start -= before.length;
  }
  return ELLIPSIS + text.slice(start);
}

/** The character before `end`: one or two UTF-16 code units. */
function lastCharacter(text: string, end: number): string {
  const pair = text.slice(Math.max(0, end - 2), end);
  return (pair.codePointAt(0) ?? 0) > 0xffff ? pair : text.slice(end - 1, end);
}
