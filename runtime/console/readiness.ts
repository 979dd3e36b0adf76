/** Whether this gateway takes events, and what an operator should know of it: the answer of `/readyz`. */
import type { ServingStatus } from '../gateway-options.ts';
import { describeOtherTables } from '../store/other-tables.ts';
import type { StoreProblem } from '../store/store.ts';

export interface ReadinessProblem {
  readonly part: 'gateway' | 'store' | 'table' | 'subscriptions';
  /** Events are answered 503 because of it. Otherwise the gateway serves what it had before. */
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
