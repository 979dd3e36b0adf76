/** The size of the tables after a long load, compared with the same rows after a full vacuum. */
import { runSql } from '../../../test/helpers/postgres/database.ts';
import { loadOnce } from '../../harness/compare.ts';
import { large } from '../../harness/payloads.ts';
import type { Lab } from '../../lab.ts';
import { BENCH_SCHEMA } from '../../servers/bench-store.ts';
import type { ClusterRow } from './row.ts';
import { megabytes, num } from './row.ts';

/** Tables whose rows live only for seconds. */
const HOT = ['work', 'delivery', 'tally', 'node', 'rate_window'];
/** Number of portions; each is sent when the previous one is finished. */
const PIECE = 20_000;

export function bloat(lab: Lab, url: string): Promise<readonly ClusterRow[]> {
  return lab.withOurs({ store: { postgres: url } }, async ({ child, port, settled }) => {
    const events = lab.options.events ?? (lab.quick ? 20_000 : 1_000_000);
    const subject = { child, port, path: '/webhooks/agent', status: 202, settled };
    let peak = 0;
    for (let sent = 0; sent < events; sent += PIECE) {
      const requests = Math.min(PIECE, events - sent);
      await loadOnce(lab.loader, subject, large, requests, { max_ms: 3_600_000 });
      await settled();
      peak = Math.max(peak, await sizeOf(url, HOT));
    }
    const [all, hot] = [await sizeOf(url), await sizeOf(url, HOT)];
    await runSql(url, 'VACUUM FULL');
    const packed = await sizeOf(url);
    return [
      [
        `all tables after ${num(events)} events / packed`,
        megabytes(all),
        megabytes(packed),
        (all / packed).toFixed(2),
        '<= 1.5',
      ],
      [`of these ${HOT.join(', ')}; at their largest`, megabytes(hot), megabytes(peak), '', ''],
    ] as const;
  });
}

/** Bytes of tables with their indexes and large values. */
async function sizeOf(url: string, names: readonly string[] | null = null): Promise<number> {
  const only = names === null ? '' : `AND relname IN (${names.map((name) => `'${name}'`).join()})`;
  const [found] = await runSql<{ bytes: string }>(
    url,
    `SELECT sum(pg_total_relation_size(relid)) AS bytes FROM pg_stat_user_tables WHERE schemaname = '${BENCH_SCHEMA}' ${only}`,
  );
  return Number(found?.bytes);
}
