/** One cell of the open-loop table: a steady rate on a disk with a given sync time, beside the bare server. */
import type { RunningGateway } from '../../harness/gateway.ts';
import { figuresOf } from '../../harness/open-loop-figures.ts';
import type { Lab } from '../../lab.ts';
import { megabytes, printRow } from './row.ts';
import { sendByTheClock, watchPeak } from './send.ts';

export interface RateCell {
  readonly rate: number;
  /** In ms. */
  readonly sync: number;
  readonly disk: string;
  readonly seconds: number;
  readonly bare: Bare | null;
}

export interface Bare {
  readonly p99: number;
  readonly row: string[];
}

/** Not counted: code is compiled and connections are made. */
const WARM_UP_SECONDS = 2;

/** By requests per second and ms of a sync: median and p99 to reach, in ms. */
const GOALS: Readonly<Record<string, readonly [median: number | null, p99: number]>> = {
  '500 0': [null, 15],
  '500 5': [13, 28],
  '500 10': [22, 40],
  '1000 10': [null, 200],
};

const phases = (rate: number, seconds: number) => [
  { rate, seconds: WARM_UP_SECONDS },
  { rate, seconds },
];

export async function atRate(
  lab: Lab,
  gateway: RunningGateway,
  { rate, sync, disk, seconds, bare }: RateCell,
): Promise<string[]> {
  const before = gateway.resident();
  const target = { port: gateway.port, path: '/webhooks/agent' };
  const { result, peak } = await watchPeak(gateway.resident, () =>
    sendByTheClock(lab, target, phases(rate, seconds), 1),
  );
  const figures = figuresOf(result, WARM_UP_SECONDS * 1000);
  const accepted = figures.statuses.get('202');
  const goal = GOALS[`${rate} ${sync}`];
  return printRow({
    load: `${rate}/s`,
    sync: disk,
    figures,
    ratio: ratioOf(accepted?.median, accepted?.p99, sync, bare),
    goal: goal === undefined ? '' : goal.map((value) => value ?? '-').join(', '),
    resident: megabytes(before, peak),
  });
}

/** On a slow disk the median in syncs; without a delay p99 beside that of the bare server. */
function ratioOf(median = Number.NaN, p99 = Number.NaN, sync: number, bare: Bare | null): string {
  if (sync > 0) return `${(median / sync).toFixed(1)} syncs`;
  return bare === null ? '' : `${(p99 / bare.p99).toFixed(1)} x bare p99`;
}

export async function bareAtRate(lab: Lab, rate: number, seconds: number): Promise<Bare> {
  const result = await lab.withBare(({ port }) => sendByTheClock(lab, { port, path: '/' }, phases(rate, seconds), 1));
  const figures = figuresOf(result, WARM_UP_SECONDS * 1000);
  const p99 = figures.statuses.get('202')?.p99 ?? Number.NaN;
  return { p99, row: printRow({ load: `${rate}/s`, sync: 'bare', figures }) };
}
