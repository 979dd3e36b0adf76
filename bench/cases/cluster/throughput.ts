/** Requests per second of a closed loop, beside the same gateway on SQLite at `full`. */
import { compare } from '../../harness/compare.ts';
import { large } from '../../harness/payloads.ts';
import type { Lab, Ours } from '../../lab.ts';
import type { ClusterRow } from './row.ts';
import { ms, num } from './row.ts';

const subject = ({ child, port, settled }: Ours) => ({ child, port, path: '/webhooks/agent', status: 202, settled });

export function throughput(lab: Lab, url: string): Promise<readonly ClusterRow[]> {
  return lab.withOurs({ store: 'full' }, (sqlite) =>
    lab.withOurs({ store: { postgres: url } }, async (postgres) => {
      const contest = { bare: subject(sqlite), ours: subject(postgres), payload: large };
      const { bare, ours, rate, p99 } = await compare(lab.loader, contest, lab.rounds);
      return [
        ['req/s, PostgreSQL / SQLite at full', num(ours.rate), num(bare.rate), rate.toFixed(2), '>= 0.65'],
        ['p99 of it', ms(ours.p99), ms(bare.p99), p99.toFixed(2), ''],
        ['CPU of the gateway, µs', num(ours.cpu), num(bare.cpu), (ours.cpu / bare.cpu).toFixed(2), ''],
      ] as const;
    }),
  );
}
