/** The cost of capturing requests for senders, and the time to list a million captured requests. */

import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { RequestFile, RequestFileReader } from '../../modules/workbench/runtime/capture/request-file.ts';
import { capturedRequests, firstNumber } from '../../modules/workbench/runtime/capture/requests.ts';
import type { KeptHead } from '../../runtime/intake/keeper.ts';
import type { NewRequestRow } from '../../runtime/store/shared.ts';
import type { KeptFilter } from '../../schemas/built/operations/types.ts';
import { buildProgram } from '../harness/build.ts';
import { tempFolder } from '../harness/config.ts';
import type { RunningGateway } from '../harness/gateway.ts';
import { withGateway } from '../harness/gateway.ts';
import { figuresOf } from '../harness/open-loop-figures.ts';
import { median } from '../harness/stats.ts';
import type { Case, Lab } from '../lab.ts';
import { sendByTheClock } from './open-loop/send.ts';

const RATE = 500;
const WARM_UP_SECONDS = 2;
const path = '/webhooks/agent';

interface Side {
  readonly p99: number[];
  readonly rate: number[];
}

/** One turn of a side by the clock: p99 in ms, and requests accepted in a second. */
async function turn(lab: Lab, { port }: RunningGateway, side: Side, firstId: number, seconds: number): Promise<void> {
  const phases = [WARM_UP_SECONDS, seconds].map((each) => ({ rate: RATE, seconds: each }));
  const result = await sendByTheClock(lab, { port, path }, phases, firstId);
  const accepted = figuresOf(result, WARM_UP_SECONDS * 1000).statuses.get('202');
  side.p99.push(accepted?.p99 ?? Number.NaN);
  side.rate.push((accepted?.count ?? 0) / seconds);
}

/** Two gateways take turns, and the order alternates, so that other load on the machine affects both equally. */
async function beside(lab: Lab, settings: string): Promise<string[][]> {
  const [none, kept]: [Side, Side] = [
    { p99: [], rate: [] },
    { p99: [], rate: [] },
  ];
  const seconds = lab.options.seconds ?? (lab.quick ? 4 : 10);
  const options = { durability: lab.options.durability, disk: null };
  await withGateway({ ...options, settings: '  capture: none\n' }, (without) =>
    withGateway({ ...options, settings }, async (keeping) => {
      for (let round = 0; round < lab.pairs; round++) {
        const sides = [
          [without, none],
          [keeping, kept],
        ] as const;
        const firstId = 10_000_000 + round * RATE * (seconds + WARM_UP_SECONDS);
        for (const [gateway, side] of round % 2 === 0 ? sides : [...sides].reverse())
          await turn(lab, gateway, side, firstId, seconds);
      }
    }),
  );
  const ratio = (of: keyof Side): string =>
    median(kept[of].map((value, at) => value / (none[of][at] ?? Number.NaN))).toFixed(2);
  return [
    [
      `p99 at ${RATE}/s`,
      `${median(none.p99).toFixed(1)} ms`,
      `${median(kept.p99).toFixed(1)} ms`,
      ratio('p99'),
      '<= 1.10',
    ],
    [
      `accepted at ${RATE}/s`,
      `${median(none.rate).toFixed(0)}/s`,
      `${median(kept.rate).toFixed(0)}/s`,
      ratio('rate'),
      '>= 0.95',
    ],
  ];
}

const LISTS: readonly (readonly [name: string, filter: KeptFilter])[] = [
  ['list, the newest 50', {}],
  ['list --route, one in fifty', { route: 'route-7' }],
  ['list --outcome, one in a thousand', { outcome: 'invalid_signature' }],
  ['list --route --outcome', { route: 'route-7', outcome: 'invalid_signature' }],
  ['list --since, nothing is as new', { since: Date.UTC(2030, 0, 1) }],
];

function headOf(n: number, at: number): KeptHead {
  const isRefused = n % 1000 === 0;
  return {
    at,
    profile: 'default',
    route: `route-${n % 50}`,
    method: 'POST',
    path: `/webhooks/route-${n % 50}`,
    headers: Array.from({ length: 12 }, (_, index) => [`x-header-${index}`, 'a value of some length'] as const),
    outcome: isRefused ? 'invalid_signature' : 'accepted',
    status: isRefused ? 401 : 202,
    stage: 'dispatch',
    reason: isRefused ? 'mismatch' : null,
    about: null,
    cause: null,
    event: 'pull_request',
    delivery_id: `d-${n}`,
    scheme: 'github',
    verified: !isRefused,
    body_bytes: 21_000,
    body_sha256: null,
    dispatch_id: null,
    replay_of: null,
    ms: 3,
  };
}

/** Rows of captured requests, in slices, ten a second from `start` on. @param body the body of each */
export function* requestRows(
  count: number,
  start: number,
  body: Uint8Array | null = null,
): Generator<readonly NewRequestRow[]> {
  for (let done = 0; done < count; done += 10_000) {
    const heads = Array.from({ length: 10_000 }, (_, index) => headOf(done + index, start + (done + index) * 100));
    yield heads.map((head) => ({ ...head, n: firstNumber(head.at), head: JSON.stringify(head), body }));
  }
}

async function lists(count: number): Promise<string[][]> {
  const file = join(tempFolder(), 'requests.db');
  const written = new RequestFile(file);
  for (const rows of requestRows(count, Date.UTC(2026, 0, 1))) written.add(rows);
  written.close();
  const rows: string[][] = [];
  for (const [name, filter] of LISTS) {
    const times: number[] = [];
    for (let turn = 0; turn < 5; turn++) {
      const reader = new RequestFileReader(file);
      const begun = performance.now();
      await capturedRequests(reader).list(filter, { limit: 50 });
      times.push(performance.now() - begun);
      reader.close();
    }
    rows.push([`${name} of ${count}`, '', `${median(times).toFixed(1)} ms`, '', '<= 100 ms']);
  }
  return rows;
}

export const captureCase: Case = {
  name: 'capture',
  title: 'Capturing requests: 21 KB events, gateways that capture none and some in turns; lists of captured requests',
  header: ['', 'none', 'all', 'ratio', 'goal'],
  async run(lab) {
    buildProgram();
    const usual = await beside(lab, '  capture: all\n');
    const every = await beside(lab, '  capture: all\n  capture_per_second: 100000\n');
    const named = every.map(([name = '', ...others]) => [`${name}, every request captured`, ...others.slice(0, 3), '']);
    return [...usual, ...named, ...(await lists(lab.quick ? 100_000 : 1_000_000))];
  },
};
