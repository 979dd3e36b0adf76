/** The text of a file. Positions are offsets; lines and columns are computed only for printing. */

export interface SourceText {
  /** Absolute path. */
  readonly path: string;
  /** The path for display: relative to the working directory if the file is below it. */
  readonly name: string;
  readonly text: string;
}

/** Half-open range of offsets, in UTF-16 code units. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

export const START: Range = { start: 0, end: 0 };
