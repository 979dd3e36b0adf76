/** Latency of events sent by the clock, measured from the moment each was due. */
import { figuresOf } from '../../harness/open-loop-figures.ts';
import type { Lab } from '../../lab.ts';
import { sendByTheClock } from '../open-loop/send.ts';
import type { ClusterRow } from './row.ts';
import { ms } from './row.ts';

const RATE = 500;
/** Not counted: code is compiled and statements are prepared. */
const WARM_UP_SECONDS = 3;

export function latency(lab: Lab, url: string): Promise<readonly ClusterRow[]> {
  return lab.withOurs({ store: { postgres: url } }, async ({ port }) => {
    const seconds = lab.options.seconds ?? (lab.quick ? 5 : 30);
    const phases = [{ rate: RATE, seconds: WARM_UP_SECONDS + seconds }];
    const result = await sendByTheClock(lab, { port, path: '/webhooks/agent' }, phases, 1);
    const { statuses, late } = figuresOf(result, WARM_UP_SECONDS * 1000);
    const taken = statuses.get('202');
    const others = [...statuses].filter(([name]) => name !== '202').map(([name, { count }]) => `${count} x ${name}`);
    return [
      [
        `open loop ${RATE}/s, p99`,
        ms(taken?.p99 ?? Number.NaN),
        `median ${ms(taken?.median ?? Number.NaN)}`,
        '',
        '<= 20 ms',
      ],
      ['  answered otherwise; sent late by (p99)', others.join(', ') || '0', ms(late), '', '0'],
    ] as const;
  });
}
