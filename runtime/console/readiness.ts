/** Computes the answer of `/readyz`: whether this gateway accepts events, and its problems. */
import type { ServingStatus } from '../gateway-options.ts';
import { describeOtherTables } from '../store/other-tables.ts';
import type { StoreProblem } from '../store/store.ts';

export interface ReadinessProblem {
  readonly part: 'gateway' | 'store' | 'table' | 'subscriptions';
  /** True: events are answered with 503. False: the gateway serves, with the previous table or subscriptions. */
  readonly blocking: boolean;
  readonly message: string;
}

export interface Readiness {
  readonly ready: boolean;
  readonly problems: readonly ReadinessProblem[];
}

/** @param otherTables hashes of the tables that the other gateways serve */
export function readinessOf(
  serving: ServingStatus,
  store: StoreProblem | null,
  otherTables: readonly string[],
): Readiness {
  const { state, table, subscriptions } = serving;
  const problems = [
    { part: 'gateway', blocking: true, message: state === 'draining' ? 'stopping' : null } as const,
    { part: 'store', blocking: true, message: store?.message ?? null } as const,
    { part: 'table', blocking: false, message: table.error } as const,
    { part: 'table', blocking: false, message: describeOtherTables(table.hash, otherTables) } as const,
    { part: 'subscriptions', blocking: false, message: subscriptions.error } as const,
  ].flatMap(({ message, ...problem }) => (message === null ? [] : [{ ...problem, message }]));
  return { ready: !problems.some(({ blocking }) => blocking), problems };
}
