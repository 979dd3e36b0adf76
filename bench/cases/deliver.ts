/** Deliveries through a declarative target to a service on this machine, beside bare undici requests of the same bytes. */
import type { RouteTable } from '../../schemas/generated/types.ts';
import { Child } from '../harness/child.ts';
import { compileYaml, tempFolder } from '../harness/config.ts';
import { median } from '../harness/stats.ts';
import type { Case, Lab } from '../lab.ts';
import type { DelivererOptions, DelivererOrder, DelivererResult } from '../servers/deliverer.ts';

const CONNECTIONS = 32;
const RATE_GOAL = 3000;
const RATIO_GOAL = 0.7;
const P99_GOAL_MS = 25;

/** A message of typical length, and one near the target's limit. */
const TEXTS: readonly (readonly [name: string, text: string])[] = [
  ['200 B', 'Build 1234 of main failed: 3 tests. '.repeat(6).slice(0, 200)],
  ['4 KB', 'Build 1234 of main failed: 3 tests. '.repeat(120).slice(0, 4000)],
];

export const deliverCase: Case = {
  name: 'deliver',
  title: `Deliveries to a local fake at ${CONNECTIONS} connections, beside bare undici requests`,
  header: ['text', 'who', 'per second', 'p50 ms', 'p99 ms', 'CPU us', 'ratio', 'goal'],
  async run(lab) {
    const { child: fake, first } = await Child.start<{ port: number }>('servers/fake-target.js');
    try {
      const rows: string[][] = [];
      for (const [name, text] of TEXTS) rows.push(...(await rowsOf(name, { text, port: first.port }, lab)));
      return rows;
    } finally {
      await fake.stop();
    }
  },
};

async function rowsOf(name: string, { text, port }: { text: string; port: number }, lab: Lab): Promise<string[][]> {
  const origin = `http://127.0.0.1:${port}`;
  const options: DelivererOptions = { tables: tablesFor(origin), origin, text };
  const { child } = await Child.start('servers/deliverer.js', options);
  try {
    const { bare, ours } = await rounds(child, lab);
    const ratio = median(ours.map((one, at) => one.rate / (bare[at]?.rate ?? Number.NaN)));
    const goal = `>= ${RATE_GOAL}/s, p99 < ${P99_GOAL_MS} ms, ratio >= ${RATIO_GOAL}`;
    return [
      [name, 'undici', ...figures(bare), '', ''],
      [name, 'deliverer', ...figures(ours), ratio.toFixed(2), goal],
    ];
  } finally {
    await child.stop();
  }
}

function tablesFor(origin: string): DelivererOptions['tables'] {
  const yaml = `platforms:
  webhook: { enabled: true, port: 0, secret: env:WEBHOOK_SECRET }
  telegram: { enabled: true, token: "1:token", api_base: "${origin}" }
`;
  const { targets, profiles } = JSON.parse(compileYaml(tempFolder(), yaml).routesJson) as RouteTable;
  return { targets, profiles };
}

/** Rounds alternate, so that other load on the machine affects both equally. */
async function rounds(child: Child, { quick }: Lab): Promise<Record<DelivererOrder['way'], DelivererResult[]>> {
  const results: Record<DelivererOrder['way'], DelivererResult[]> = { bare: [], ours: [] };
  const requests = quick ? 3000 : 12_000;
  for (const way of ['bare', 'ours'] as const) await ask(child, { way, connections: CONNECTIONS, requests });
  for (let round = 0; round < (quick ? 3 : 7); round += 1) {
    const order = round % 2 === 0 ? (['bare', 'ours'] as const) : (['ours', 'bare'] as const);
    for (const way of order) results[way].push(await ask(child, { way, connections: CONNECTIONS, requests }));
  }
  return results;
}

async function ask(child: Child, order: DelivererOrder): Promise<DelivererResult> {
  const { result, error } = await child.ask<{ readonly result?: DelivererResult; readonly error?: string }>(order);
  if (result === undefined) throw new Error(`deliverer: ${error}`);
  return result;
}

function figures(results: readonly DelivererResult[]): string[] {
  const of = (field: keyof DelivererResult): number => median(results.map((one) => one[field]));
  return [of('rate').toFixed(0), of('p50').toFixed(2), of('p99').toFixed(2), of('cpu').toFixed(0)];
}
