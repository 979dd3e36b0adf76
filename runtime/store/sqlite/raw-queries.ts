/** The questions of ../queries.ts as the reader answers them. */
import type { Query, QueryKind, QueryResults } from '../queries.ts';
import type { LoadedRow } from './summary.ts';

/** What crosses from the reader thread: dispatches with their texts unparsed. */
type Raw<K extends QueryKind> = K extends 'load'
  ? LoadedRow | null
  : K extends 'find'
    ? LoadedRow | 'unknown' | 'ambiguous'
    : QueryResults[K];

export type RawQueries = {
  readonly [K in QueryKind]: (query: Extract<Query, { kind: K }>) => Raw<K>;
};
export type RawResult = Raw<QueryKind>;
