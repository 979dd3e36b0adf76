/**
 * The storm: three gateways on one database, or one on a file, accept signed events in turns, while they, the database and the
 * network between them are killed, stopped and cut, the disk stalls, and the chat service comes and goes. Then nothing
 * acknowledged may be lost, nothing refused may be kept, and nothing that must happen once may be doubled.
 */
import { join } from 'node:path';
import type { Ending } from '../../../helpers/at-end.ts';
import type { DiskTool } from '../../../helpers/disk/disk-plan.ts';
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
  /** One gateway on a file whose disk stalls; null: three on a database. */
  readonly disk: DiskTool | null;
  /** How long the chat service is up, and then down, in ms. */
  readonly flapMs: number;
  readonly seed: number;
  /** Time for the remaining work once all faults are over, in ms. */
  readonly settleMs: number;
  readonly say: (what: string) => void;
}

export interface StormReport extends Findings {
  /** Responses by status; 0: the connection failed, or there was no response in time. */
  readonly answers: Readonly<Record<number, number>>;
  readonly acknowledged: number;
  /** Refused, and not sent again. */
  readonly refused: number;
  /** Ignored, because a budget was used up. */
  readonly ignored: number;
  /** Deliveries that found the chat service down. */
  readonly missed: number;
}

export async function storm(t: Ending, plan: StormPlan): Promise<StormReport> {
  const random = seededRandom(plan.seed);
  const begun = performance.now();
  const say = (what: string): void => plan.say(`${((performance.now() - begun) / 1000).toFixed(1)} s  ${what}`);
  const folder = tempDir(t);
  const { disk } = plan;
  const cluster = disk === null ? await startCluster(t, { fsync: true }) : null;
  const world = await World.start(t, random);
  const table = writeTable(folder, world.url, cluster !== null);
  const startedAt = Date.now();
  const gateways: StormGateway[] = [];
  for (const name of cluster === null ? ['a'] : ['a', 'b', 'c']) {
    const options = { table, home: join(folder, name), database: cluster?.url() ?? null, startedAt, disk };
    gateways.push(await StormGateway.create(t, name, options));
  }
  const store = cluster?.url() ?? join(folder, 'a', 'state.db');
  await Promise.all(gateways.map((gateway) => gateway.start()));
  say(`${gateways.length} gateways listen`);
  const calm = world.flap(plan.flapMs);
  const senders = new Senders(gateways);
  const sending = senders.send(plan.events, plan.perSecond);
  const progress = setInterval(() => say(`${senders.acknowledged.size} of ${plan.events} acknowledged`), 10_000);
  try {
    await rage(plan, { gateways, cluster, random, say }, (plan.events / plan.perSecond) * 1000);
    await sending;
    calm();
    say('all sent');
    const wrong = [...senders.wrong];
    await settles(store, plan.settleMs);
    for (const { name, hasFailed } of gateways) if (hasFailed) wrong.push(`gateway ${name} ended by itself`);
    await Promise.all(gateways.map((gateway) => gateway.kill()));
    const events = Array.from({ length: plan.events }, (_, n) => eventAt(n));
    const found = await inspect(store, { world, senders, events });
    if (found.open > 0) wrong.push(`${found.open} still open after ${plan.settleMs} ms`);
    say('inspected');
    const { acknowledged, refused, ignored, answers } = senders;
    const counts = { acknowledged: acknowledged.size, refused: refused.size, ignored: ignored.size };
    const { missed } = world;
    return { ...found, ...counts, missed, wrong: [...wrong, ...found.wrong], answers: Object.fromEntries(answers) };
  } finally {
    calm();
    clearInterval(progress);
  }
}
