/** All queries of a store, as plain data. schemas/store.yaml describes them and their results. */
import type { QueryResults, StoreQuery } from '../../schemas/built/operations/types.ts';

export type {
  BlockedRow,
  BusySession,
  DamageReport,
  DeadWork,
  DispatchSummary,
  LastError,
  ListFilter,
  OpenWork,
  QueryResults,
  RouteTraffic,
  SaidTurn,
  ShownTally,
  StoredDispatch,
  StoredJobs,
  StoredNode,
  StoreOverview,
  Tally,
} from '../../schemas/built/operations/types.ts';

/** The highest counted position in a session. */
export const MOST_TURNS = 1000;
/** The highest count of events of a route. */
export const MOST_COUNTED = 10_000;

export type Query = StoreQuery;
export type QueryKind = Query['kind'];

/** An engine's function for each query. */
export type QueryHandlers = {
  readonly [K in QueryKind]: (query: Extract<Query, { kind: K }>) => QueryResults[K];
};
