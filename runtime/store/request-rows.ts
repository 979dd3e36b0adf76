/** Kept requests as rows that gateways share: `n` is the number in the id, `head` is everything but the body, as JSON. */

export interface RequestRow {
  readonly n: number;
  readonly head: string;
  readonly body: Uint8Array | null;
}

/** The columns, besides the number, by which rows are found. */
export interface RequestColumns {
  readonly profile: string;
  readonly route: string;
  readonly outcome: string;
  readonly reason: string | null;
}

export type NewRequestRow = RequestRow & RequestColumns;

/** All given conditions must hold; the bounds of `n` are exclusive. */
export interface RequestFilter extends Partial<RequestColumns> {
  readonly above?: number;
  readonly below?: number;
  /** Text in head or body; ignores the case of ASCII letters. */
  readonly grep?: string;
  /** True: oldest first; false: newest first. */
  readonly isAscending: boolean;
  readonly limit: number;
  /** Passes over so many. */
  readonly skip: number;
}

/** All reject with StoreUnavailable. */
export interface RequestRows {
  /** Returns the number of rows stored; rows whose number is taken are not. */
  add(rows: readonly NewRequestRow[]): Promise<number>;
  /** Removes rows below `n`, then the oldest ones until the rest has at most `maxBytes`. */
  trim(n: number, maxBytes: number): Promise<void>;
  list(filter: RequestFilter): Promise<readonly Omit<RequestRow, 'body'>[]>;
  /** At most two rows with a number from `from` to `to`, both inclusive. */
  between(from: number, to: number): Promise<readonly RequestRow[]>;
}
