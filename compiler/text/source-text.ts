/** The text of a file. Positions are offsets; lines and columns are computed only for printing. */

/**
 * A file that was compiled, with its text.
 *
 * @example
 * ```ts
 * import type { SourceText } from 'hookwright/compiler';
 *
 * const lineOf = ({ text }: SourceText, offset: number): number => text.slice(0, offset).split('\n').length;
 * ```
 */
export interface SourceText {
  /** Absolute path. */
  readonly path: string;
  /** The path for display: relative to the working directory if the file is below it. */
  readonly name: string;
  /** The text, to which ranges refer. */
  readonly text: string;
}

/**
 * A part of a text: half-open, in UTF-16 code units, as `String.slice` counts them.
 *
 * @example
 * ```ts
 * import type { Range } from 'hookwright/compiler';
 *
 * const first: Range = { start: 0, end: 9 };
 * console.log('platforms: {}'.slice(first.start, first.end)); // platforms
 * ```
 */
export interface Range {
  /** Offset of the first code unit. */
  readonly start: number;
  /** Offset after the last code unit. */
  readonly end: number;
}

export const START: Range = { start: 0, end: 0 };
