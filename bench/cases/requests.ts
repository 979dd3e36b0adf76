/** Requests per second of agent routes and rejections, beside the bare server. */
import type { Comparison, Measured } from '../harness/compare.ts';
import { compare, measureBoth, summarise } from '../harness/compare.ts';
import type { Payload } from '../harness/payloads.ts';
import { large, small } from '../harness/payloads.ts';
import type { Case, Lab, OursOptions } from '../lab.ts';

export const RATIO_HEADER = [
  'case',
  'payload',
  'bare req/s',
  'req/s',
  'ratio',
  'goal',
  'bare p99',
  'p99',
  'ratio',
  'goal',
  'bare CPU',
  'CPU',
];

/** Goals: at least `rate` of the bare server's requests per second, at most `p99` times its p99. */
export interface Goal {
  readonly rate: number | null;
  readonly p99: number | null;
}

export function ratioRow(name: string, payload: Payload, { bare, ours, rate, p99 }: Comparison, goal: Goal): string[] {
  return [
    name,
    payload.name,
    bare.rate.toFixed(0),
    ours.rate.toFixed(0),
    rate.toFixed(2),
    goal.rate === null ? '' : `>= ${goal.rate.toFixed(2)}`,
    `${bare.p99.toFixed(1)} ms`,
    `${ours.p99.toFixed(1)} ms`,
    p99.toFixed(2),
    goal.p99 === null ? '' : `<= ${goal.p99}`,
    `${bare.cpu.toFixed(0)} us`,
    `${ours.cpu.toFixed(0)} us`,
  ];
}

/** The agent route beside the bare server, both restarted for each pair. */
async function compareAgent(lab: Lab, store: OursOptions['store'], payload: Payload): Promise<Comparison> {
  const rounds = { ...lab.rounds, rounds: lab.rounds.rounds / lab.pairs };
  const measured: Measured[] = [];
  for (let pair = 0; pair < lab.pairs; pair++) {
    const both = await lab.withBare((bare) =>
      lab.withOurs({ store }, ({ child, port, settled }) => {
        const ours = { child, port, path: '/webhooks/agent', status: 202, settled };
        return measureBoth(lab.loader, { bare, ours, payload }, rounds);
      }),
    );
    measured.push(both);
  }
  return summarise(measured);
}

interface Rejection {
  readonly name: string;
  readonly path: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

const REJECTIONS: readonly Rejection[] = [
  {
    name: 'bad signature',
    path: '/webhooks/agent',
    status: 401,
    headers: { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` },
  },
  { name: 'filtered', path: '/webhooks/filtered', status: 200, headers: {} },
  { name: 'duplicate', path: '/webhooks/agent', status: 200, headers: { 'x-github-delivery': 'seen' } },
];

export const rejectionsCase: Case = {
  name: 'rejections',
  title: 'Rejections: answered before any work is stored (SQLite store, durability normal)',
  header: RATIO_HEADER,
  run: (lab) =>
    lab.withBare((bare) =>
      lab.withOurs({ store: 'normal' }, async ({ child, port }) => {
        const rows: string[][] = [];
        await seed(port);
        for (const payload of [large, small]) {
          for (const { name, path, status, headers } of REJECTIONS) {
            const oursPayload = { ...payload, headers: { ...payload.headers, ...headers } };
            const ours = { child, port, path, status };
            const result = await compare(lab.loader, { bare, ours, payload, oursPayload }, lab.rounds);
            rows.push(ratioRow(name, payload, result, { rate: 0.9, p99: null }));
          }
        }
        return rows;
      }),
    ),
};

/** Sends the id of the duplicates once, so that it is accepted. */
async function seed(port: number): Promise<void> {
  const headers = { ...small.headers, 'x-github-delivery': 'seen' };
  const response = await fetch(`http://127.0.0.1:${port}/webhooks/agent`, {
    method: 'POST',
    headers,
    body: small.body,
  });
  if (response.status !== 202) throw new Error(`seeding the duplicate returned ${response.status}`);
}

export const durabilityCase: Case = {
  name: 'durability',
  title: 'Agent route: in-process stub agent, delivery to the log; every 202 is a committed dispatch',
  header: RATIO_HEADER,
  async run(lab) {
    const rows: string[][] = [];
    for (const [store, payload, rate] of [
      ['normal', large, 0.6],
      ['normal', small, 0.35],
      ['full', large, 0.55],
      ['full', small, 0.3],
    ] as const) {
      rows.push(ratioRow(store, payload, await compareAgent(lab, store, payload), { rate, p99: 3 }));
    }
    return rows;
  },
};
