/** Kept requests as rows that gateways share: `n` is the number of the id, `head` everything but the body, as JSON. */

export interface RequestRow {
  readonly n: number;
  readonly head: string;
  readonly body: Uint8Array | null;
}

/** What a row is found by, beside its number. */
export interface RequestColumns {
  readonly profile: string;
  readonly route: string;
  readonly outcome: string;
  readonly reason: string | null;
}

/** Each condition that is given must hold; the bounds of `n` are exclusive. */
export interface RequestFilter extends Partial<RequestColumns> {
  readonly above?: number;
  readonly below?: number;
  /** Text in head or body; ASCII letters in either case. */
  readonly grep?: string;
  /** The oldest ones first; default: the newest. */
  readonly isAscending: boolean;
  readonly limit: number;
}

/** All reject with StoreUnavailable. */
export interface RequestRows {
  /** @returns how many were stored: one whose number is taken is not */
  add(rows: readonly (RequestRow & RequestColumns)[]): Promise<number>;
  /** Removes rows below `n`, then the oldest until the rest has at most so many bytes. */
  trim(n: number, maxBytes: number): Promise<void>;
  list(filter: RequestFilter): Promise<readonly Omit<RequestRow, 'body'>[]>;
  /** At most two with a number from `from` to `to`, both inclusive. */
  between(from: number, to: number): Promise<readonly RequestRow[]>;
}
