/** A guard with its own clock over a store, for tests of alerts. */
import { randomBytes } from 'node:crypto';
import { compileText } from '../../../main/compiler.ts';
import { openGuard } from '../../../modules/guard/runtime/open-guard.ts';
import { HttpPool } from '../../../runtime/deliver/http-pool.ts';
import type { Guard } from '../../../runtime/dispatch/context.ts';
import { createIds } from '../../../runtime/platform/ids.ts';
import { silentLog } from '../../../runtime/platform/log.ts';
import type { Store } from '../../../runtime/store/contract.ts';
import { makeDispatch } from '../../helpers/dispatches.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;

export interface Watch {
  readonly clock: FakeClock;
  fail(route?: string): void;
  succeed(route?: string): void;
  /** Ends a delivery to a chat. @param failure null: success */
  deliver(chat_id: string, failure: string | null): void;
  /** Answers requests of a route. */
  answer(authentic: boolean, times: number, route?: string): void;
  /** The newest configuration is rejected for this reason; null: it is in service. */
  reject(problem: string | null): void;
  /** Pauses a key of route `talk`. */
  pause(key: string): void;
  /** Rejects a run over the budget of a route, in a window that ends in an hour. */
  spend(route: string): void;
  /** Closes the guard once all alerts are stored, and opens another one over the same store. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export async function watch(store: Store, clock = new FakeClock()): Promise<Watch> {
  const { table } = await compileText('gateway: { alerts: { deliver: local } }', { home: '/nowhere', env: {} });
  if (table === null) throw new Error('it does not compile');
  let problem: string | null = null;
  const open = (): Guard =>
    openGuard({
      ...{ store, clock, ids: createIds(randomBytes), log: silentLog, table: () => table, wake: () => {} },
      deliverer: { deliver: async () => ({ kind: 'ok', message_id: null, sent: 1 }) },
      state: () => ({ ready: true, rejected: [], problem, url: 'http://here', overdueJob: null }),
      ...{ http: new HttpPool(), heartbeatUrl: () => null },
    });
  let guard = open();
  const owner = (route: string) => makeDispatch('d', { route });
  return {
    clock,
    fail: (route = 'review') => guard.observer.runFailed?.(owner(route), 'the token is not valid any more'),
    succeed: (route = 'review') => guard.observer.runEnded?.(owner(route), 'ok', 5),
    deliver(chat_id, failure) {
      const delivery = { target: 'messenger_a', label: 'telegram', extra: { chat_id }, unresolved: [] };
      guard.observer.deliveryEnded?.(makeDispatch('d', { deliveries: [delivery] }), 0, failure);
    },
    answer(authentic, times, route = 'review') {
      for (let n = 0; n < times; n++) guard.requested(route, authentic);
    },
    reject(reason) {
      problem = reason;
    },
    pause(key) {
      const limit = {
        key: JSON.stringify(['default', 'talk', key]),
        most: 2,
        weight: 3,
        within_ms: MINUTE,
        pause_ms: HOUR,
      };
      const over = { kind: 'over_limit', reason: 'loop', until: clock.now() + HOUR, first: false, detail: '' } as const;
      guard.observer.overLimit?.(owner('talk'), { ...over, limit: { kind: 'runs', ...limit } });
    },
    spend(route) {
      const until = clock.now() + HOUR;
      const key = JSON.stringify(['route', 'default', route, 'hour']);
      const limit = { kind: 'budget', key, runs: 1, tokens: null, cost: null, since: 0, until } as const;
      const over = { kind: 'over_limit', reason: 'budget', until, first: true, detail: '' } as const;
      guard.observer.overLimit?.(owner(route), { ...over, limit });
    },
    async restart() {
      await guard.close();
      guard = open();
      await clock.run(0);
    },
    close: () => guard.close(),
  };
}

/** The stored alert messages, oldest first. */
export async function sentAlerts(store: Store): Promise<readonly string[]> {
  const rows = await store.read({ kind: 'list', filter: { limit: 100 } });
  const own = rows.filter(({ event }) => event === 'alert').reverse();
  return Promise.all(own.map(async ({ ref }) => (await store.read({ kind: 'load', ref }))?.dispatch.prompt ?? ''));
}
