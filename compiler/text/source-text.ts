/** A file's text and the one type of position in it; lines and columns are computed only when something is printed. */

export interface SourceText {
  /** Absolute path. */
  readonly path: string;
  /** The path as it is printed: relative to the working directory when the file is below it. */
  readonly name: string;
  readonly text: string;
}

/** Half-open, in UTF-16 units from the start of the text. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

export const START: Range = { start: 0, end: 0 };
