/**
 * One gateway on PostgreSQL, beside one on SQLite and alone: throughput, latency, the cost of an event, and large
 * tables.
 */
import { Cluster } from '../../test/helpers/postgres/cluster.ts';
import type { Case, Lab } from '../lab.ts';
import { bloat } from './cluster/bloat.ts';
import { claims } from './cluster/claims.ts';
import { cost } from './cluster/cost.ts';
import { latency } from './cluster/latency.ts';
import { retention } from './cluster/retention.ts';
import type { ClusterRow } from './cluster/row.ts';
import { throughput } from './cluster/throughput.ts';

/** By the names that `--only` accepts. */
const PARTS: Readonly<Record<string, (lab: Lab, url: string) => Promise<readonly ClusterRow[]>>> = {
  throughput,
  latency,
  cost,
  claims,
  bloat,
  retention,
};

/** Settings of a typical small server. */
const SETTINGS = { shared_buffers: '256MB', max_wal_size: '4GB' };

export const clusterCase: Case = {
  name: 'cluster',
  title: 'A gateway on PostgreSQL (fsync on, on the same machine; 21 KB payload)',
  header: ['', 'figure', 'beside', 'ratio', 'goal'],
  async run(lab) {
    const names = lab.options.only ?? Object.keys(PARTS);
    const rows: ClusterRow[] = [];
    for (const name of names) {
      const part = PARTS[name];
      if (part === undefined) throw new Error(`unknown part: ${name}; there are ${Object.keys(PARTS).join(', ')}`);
      const cluster = await Cluster.create({ fsync: true, settings: SETTINGS });
      try {
        rows.push(...(await part(lab, cluster.url())));
      } finally {
        cluster.remove();
      }
    }
    return rows;
  },
};
