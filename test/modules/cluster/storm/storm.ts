/**
 * The cluster storm: three gateways on one database accept signed events in turns, while they, the database and the
 * network between them are killed, stopped and cut. Then nothing acknowledged may be lost, and nothing that must happen
 * once may be doubled.
 */
import { join } from 'node:path';
import type { Ending } from '../../../helpers/at-end.ts';
import { startCluster } from '../../../helpers/postgres/cluster.ts';
import { seededRandom } from '../../../helpers/seeded-random.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';
import type { ChaosPlan } from './chaos.ts';
import { rage } from './chaos.ts';
import { StormGateway } from './gateways.ts';
import type { Findings } from './inspect.ts';
import { inspect, settles } from './inspect.ts';
import { eventAt, Senders } from './senders.ts';
import { writeTable } from './table.ts';
import { World } from './world.ts';

export interface StormPlan extends ChaosPlan {
  readonly events: number;
  readonly perSecond: number;
  readonly seed: number;
  /** Time for the remaining work once all faults are over, in ms. */
  readonly settleMs: number;
  readonly say: (what: string) => void;
}

export interface StormReport extends Findings {
  /** Responses by status; 0: the connection failed, or there was no response in time. */
  readonly answers: Readonly<Record<number, number>>;
}

export async function storm(t: Ending, plan: StormPlan): Promise<StormReport> {
  const random = seededRandom(plan.seed);
  const begun = performance.now();
  const say = (what: string): void => plan.say(`${((performance.now() - begun) / 1000).toFixed(1)} s  ${what}`);
  const folder = tempDir(t);
  const cluster = await startCluster(t, { fsync: true });
  const world = await World.start(t, random);
  const table = writeTable(folder, world.url);
  const startedAt = Date.now();
  const gateways: StormGateway[] = [];
  for (const name of ['a', 'b', 'c']) {
    const options = { table, home: join(folder, name), database: cluster.url(), startedAt };
    gateways.push(await StormGateway.create(t, name, options));
  }
  await Promise.all(gateways.map((gateway) => gateway.start()));
  say('three gateways listen');
  const senders = new Senders(gateways);
  const sending = senders.send(plan.events, plan.perSecond);
  const progress = setInterval(() => say(`${senders.acknowledged.size} of ${plan.events} acknowledged`), 10_000);
  try {
    await rage(plan, { gateways, cluster, random, say }, (plan.events / plan.perSecond) * 1000);
    await sending;
    say('all acknowledged');
    const wrong = [...senders.wrong];
    await settles(cluster.url(), plan.settleMs);
    for (const { name, hasFailed } of gateways) if (hasFailed) wrong.push(`gateway ${name} ended by itself`);
    await Promise.all(gateways.map((gateway) => gateway.kill()));
    const events = Array.from({ length: plan.events }, (_, n) => eventAt(n));
    const found = await inspect(cluster.url(), world, events);
    if (found.open > 0) wrong.push(`${found.open} still open after ${plan.settleMs} ms`);
    say('inspected');
    return { ...found, wrong: [...wrong, ...found.wrong], answers: Object.fromEntries(senders.answers) };
  } finally {
    clearInterval(progress);
  }
}
