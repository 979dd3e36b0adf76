/** The faults of the storm: kills, pauses and cuts, spread evenly over its duration. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../../../helpers/postgres/cluster.ts';
import type { Direction } from '../../../helpers/tcp-proxy.ts';
import type { StormGateway } from './gateways.ts';

export interface ChaosPlan {
  /** The database hangs for ms, as on a disk that stalls. */
  readonly stalls: readonly number[];
  /** SIGKILL of a gateway, which is restarted. */
  readonly kills: number;
  /** SIGSTOP of a gateway for longer than its lease, then SIGCONT. */
  readonly pauses: number;
  /** SIGKILL of the database server, which is restarted. */
  readonly databaseKills: number;
  /** The network between a gateway and the database is cut: in both directions or in one, for ms. */
  readonly cuts: readonly { readonly directions: readonly Direction[]; readonly ms: number }[];
}

/** Longer than a lease (10 s) and the time in which another gateway takes over. */
const PAUSE_MS = 13_000;

type Action = (parts: ChaosParts) => Promise<string>;

export interface ChaosParts {
  readonly gateways: readonly StormGateway[];
  /** Null: the gateway's store is a file. */
  readonly cluster: Cluster | null;
  readonly random: () => number;
  /** Receives every fault. */
  readonly say: (what: string) => void;
}

const kill: Action = (parts) =>
  withGateway(parts, async (gateway) => {
    await gateway.kill();
    await sleep(parts.random() * 500);
    await gateway.start();
    return 'killed and started again';
  });

const pause: Action = (parts) =>
  withGateway(parts, async (gateway) => {
    gateway.signal('SIGSTOP');
    await sleep(PAUSE_MS);
    gateway.signal('SIGCONT');
    return `stopped for ${PAUSE_MS} ms`;
  });

const cut =
  ({ directions, ms }: ChaosPlan['cuts'][number]): Action =>
  (parts) =>
    withGateway(parts, async ({ proxy }) => {
      proxy?.cut(...directions);
      await sleep(ms);
      proxy?.heal();
      return `cut off for ${ms} ms (${directions.join(' and ')})`;
    });

const killDatabase: Action = async ({ cluster }) => {
  await cluster?.kill();
  cluster?.start();
  return 'database killed and started again';
};

const stall =
  (ms: number): Action =>
  async ({ cluster }) => {
    await cluster?.stall(ms);
    return `database hung for ${ms} ms`;
  };

async function withGateway(
  { gateways, random }: ChaosParts,
  act: (gateway: StormGateway) => Promise<string>,
): Promise<string> {
  let free: StormGateway[] = [];
  while (free.length === 0) {
    free = gateways.filter(({ isBusy }) => !isBusy);
    if (free.length === 0) await sleep(50);
  }
  const gateway = free[Math.floor(random() * free.length)] as StormGateway;
  gateway.isBusy = true;
  try {
    return `gateway ${gateway.name}: ${await act(gateway)}`;
  } finally {
    gateway.isBusy = false;
  }
}

/** @returns when all faults are over */
export async function rage(plan: ChaosPlan, parts: ChaosParts, overMs: number): Promise<void> {
  const actions = shuffled(
    [
      ...Array.from({ length: plan.kills }, () => kill),
      ...Array.from({ length: plan.pauses }, () => pause),
      ...Array.from({ length: plan.databaseKills }, () => killDatabase),
      ...plan.cuts.map(cut),
      ...plan.stalls.map(stall),
    ],
    parts.random,
  );
  const ended: Promise<void>[] = [];
  for (const action of actions) {
    ended.push(action(parts).then(parts.say));
    await sleep(overMs / actions.length);
  }
  await Promise.all(ended);
}

function shuffled<T>(all: readonly T[], random: () => number): T[] {
  const places = all.map((one) => ({ one, place: random() }));
  return places.sort((a, b) => a.place - b.place).map(({ one }) => one);
}
