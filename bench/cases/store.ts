/** The cost of a large store: throughput, lists, clean-up under load, and a restart with much pending work. */
import { performance } from 'node:perf_hooks';
import { compare, loadOnce } from '../harness/compare.ts';
import { large } from '../harness/payloads.ts';
import { median } from '../harness/stats.ts';
import type { Case, Lab, Ours } from '../lab.ts';

type Row = readonly [name: string, figure: string, beside: string, ratio: string, goal: string];

const path = '/webhooks/agent';
const subject = ({ child, port }: Ours) => ({ child, port, path, status: 202 });

/** Throughput with a full store beside an empty one, the newest of a list, and p99 while half of it is removed. */
async function fullStore(lab: Lab, stored: number): Promise<Row[]> {
  const half = stored / 2;
  return lab.withOurs({ store: 'normal' }, (empty) =>
    lab.withOurs({ store: 'normal', seed: { old: half, recent: half, pending: 0 } }, async (full) => {
      const contest = { bare: subject(empty), ours: subject(full), payload: large };
      const result = await compare(lab.loader, contest, lab.rounds);
      const times: number[] = [];
      for (let time = 0; time < 9; time++) times.push((await full.child.ask<{ ms: number }>({ list: 50 })).ms);
      const before = await loadOnce(lab.loader, subject(full), large, lab.rounds.requests * 3);
      full.child.tell({ clean_up: true });
      const during = await loadOnce(lab.loader, subject(full), large, lab.rounds.requests * 3);
      const { rate } = result;
      return [
        [`req/s, ${stored} stored / none`, num(result.ours.rate), num(result.bare.rate), rate.toFixed(2), '>= 0.90'],
        ['newest 50 of them', ms(median(times)), '', '', '< 50 ms'],
        [
          'p99 while half is removed / before',
          ms(during.p99),
          ms(before.p99),
          (during.p99 / before.p99).toFixed(2),
          '<= 3',
        ],
      ];
    }),
  );
}

/** Milliseconds from the start of a server to its first response. */
async function startMs(lab: Lab, pending: number): Promise<number> {
  let started = 0;
  let answered = 0;
  await lab.withOurs(
    { store: 'normal', seed: { old: 0, recent: 0, pending }, starting: () => (started = performance.now()) },
    async ({ port }) => {
      await fetch(`http://127.0.0.1:${port}/health`);
      answered = performance.now();
    },
  );
  return answered - started;
}

export const storeCase: Case = {
  name: 'store',
  title: 'A large store (SQLite, durability normal, 21 KB payload)',
  header: ['', 'figure', 'beside', 'ratio', 'goal'],
  async run(lab) {
    const rows = await fullStore(lab, lab.quick ? 50_000 : 1_000_000);
    const pending = lab.quick ? 10_000 : 100_000;
    const none = await startMs(lab, 0);
    const many = await startMs(lab, pending);
    return [...rows, [`start to /health, ${pending} pending / none`, ms(many), ms(none), '', '< 1 s more']];
  },
};

const num = (value: number): string => value.toFixed(0);
const ms = (value: number): string => `${value.toFixed(1)} ms`;
