/** The amortised cost of an event from acceptance to done: round trips, rows touched, bytes of WAL. */
import { runSql } from '../../../test/helpers/postgres/database.ts';
import { loadOnce } from '../../harness/compare.ts';
import { large } from '../../harness/payloads.ts';
import type { Lab, Ours } from '../../lab.ts';
import { BENCH_SCHEMA } from '../../servers/bench-store.ts';
import type { ClusterRow } from './row.ts';
import { num } from './row.ts';

/** Connections: one event at a time is the most expensive case; many share transactions. */
const WIDTHS = [1, 32];

interface Totals {
  readonly rows: number;
  readonly wal: number;
  /** Bytes of the dispatches' bodies, as they are stored. */
  readonly payload: number;
}

/** Statistics arrive a second late. */
const SETTLE_MS = 1500;

async function totals(url: string): Promise<Totals> {
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const [found] = await runSql<Record<keyof Totals, string>>(
    url,
    'SELECT (SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_user_tables) AS rows, ' +
      `pg_current_wal_lsn() - '0/0' AS wal, (SELECT coalesce(sum(pg_column_size(body)), 0) FROM ${BENCH_SCHEMA}.dispatch) AS payload`,
  );
  return { rows: Number(found?.rows), wal: Number(found?.wal), payload: Number(found?.payload) };
}

export function cost(lab: Lab, url: string): Promise<readonly ClusterRow[]> {
  return lab.withOurs({ store: { postgres: url } }, async (ours) => {
    const rows: ClusterRow[] = [];
    await send(lab, ours, 2000, 32);
    for (const connections of WIDTHS) rows.push(...(await costAt(lab, ours, { url, connections })));
    return rows;
  });
}

async function costAt(
  lab: Lab,
  ours: Ours,
  { url, connections }: { readonly url: string; readonly connections: number },
): Promise<readonly ClusterRow[]> {
  const events = (lab.quick ? 500 : 5000) * (connections === 1 ? 1 : 4);
  const before = { ...(await totals(url)), trips: (await ours.report()).round_trips };
  await send(lab, ours, events, connections);
  // The queries for the count must not be counted themselves.
  const trips = (await ours.report()).round_trips - before.trips;
  const after = await totals(url);
  const each = (figure: keyof Totals): number => (after[figure] - before[figure]) / events;
  const name = connections === 1 ? 'one event at a time' : `${connections} at once`;
  return [
    [`round trips an event, ${name}`, (trips / events).toFixed(2), '', '', '<= 6'],
    [`rows touched an event, ${name}`, each('rows').toFixed(1), '', '', ''],
    [
      `WAL bytes an event / the stored text, ${name}`,
      num(each('wal')),
      num(each('payload')),
      (each('wal') / each('payload')).toFixed(2),
      '',
    ],
  ];
}

async function send(lab: Lab, { child, port, settled }: Ours, requests: number, connections: number): Promise<void> {
  const subject = { child, port, path: '/webhooks/agent', status: 202, settled };
  await loadOnce(lab.loader, subject, large, requests, { connections, max_ms: 600_000 });
  await settled();
}
