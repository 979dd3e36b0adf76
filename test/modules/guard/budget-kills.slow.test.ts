/** A thousand events at once for a budget of a hundred runs, while gateways are killed and restarted. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { atEnd } from '../../helpers/at-end.ts';
import { runInProcess } from '../../helpers/cli.ts';
import { until } from '../../helpers/gateway.ts';
import type { GatewayProcess } from '../../helpers/gateway-process.ts';
import { createSender, startGatewayProcess } from '../../helpers/gateway-process.ts';
import { skipWithoutPostgres } from '../../helpers/postgres/binaries.ts';
import { suiteDatabase } from '../../helpers/postgres/database.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const SECRET = 'a-secret-of-a-small-budget';
const [EVENTS, RUNS, KILLS] = [1000, 100, 4];
/** Concurrent events. */
const SENDERS = 40;

/** A time zone in which it is about noon, so that no day ends during the test. */
function zoneAtNoon(): string {
  const ahead = 12 - new Date().getUTCHours();
  return `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`;
}

const config = (store: string): string => `
gateway: { timezone: ${zoneAtNoon()}, alerts: { deliver: local }, budget: { runs: ${RUNS}, per: day }${store} }
agent: { command: [cat], confined: It repeats what it reads. }
platforms:
  webhook: { enabled: true, port: 0, secret: ${SECRET}, rate_limit: 1000000, routes: { all: { prompt: "{id}" } } }
`;

interface Row {
  readonly route: string | null;
  readonly event: string;
  readonly state: string;
}

async function spend(t: TestContext, count: number, store: string, env: Readonly<Record<string, string>>) {
  const homes = Array.from({ length: count }, () => tempDir(t));
  for (const home of homes) writeFileSync(join(home, 'config.yaml'), config(store), { mode: 0o600 });
  const nodes: GatewayProcess[] = [];
  const start = async (at: number): Promise<void> => {
    nodes[at] = await startGatewayProcess({ home: homes[at] ?? '', env });
  };
  atEnd(t, () => Promise.all(nodes.map((node) => node.kill())));
  await Promise.all(homes.map((_, at) => start(at)));
  const post = createSender(SECRET);
  const answers: string[] = [];
  /** Retries like a sender, perhaps with another gateway, until there is a response. */
  const send = async (id: number): Promise<void> => {
    for (let attempt = id; ; attempt++) {
      const answer = await post(nodes[attempt % count]?.url ?? '', 'all', `e${id}`, { id }).catch(() => null);
      if (answer !== null && answer.status < 300) return void answers.push(answer.code);
      await sleep(20);
    }
  };
  const waiting = Array.from({ length: EVENTS }, (_, id) => id);
  const sender = async (): Promise<void> => {
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) await send(id);
  };
  const sent = Promise.all(Array.from({ length: SENDERS }, sender));
  for (let kill = 0; kill < KILLS; kill++) {
    // The first kill happens while runs are still accepted.
    const answered = kill === 0 ? 20 : (EVENTS * kill) / (KILLS + 1);
    await until(async () => answers.length >= answered);
    await nodes[kill % count]?.kill();
    await start(kill % count);
  }
  await sent;
  const list = async (): Promise<readonly Row[]> => {
    const argv = ['deliveries', 'list', '--all', '--json', '--limit', '2000'];
    return JSON.parse((await runInProcess(argv, { home: homes[0] ?? '', env })).stdout) as Row[];
  };
  const isOver = (rows: readonly Row[]): boolean =>
    rows.every(({ state }) => state === 'done') && rows.some(({ event }) => event === 'alert');
  const rows = await until(async () => {
    const found = await list();
    return isOver(found) ? found : null;
  });
  return { answers, rows };
}

function check({ answers, rows }: Awaited<ReturnType<typeof spend>>): void {
  assert.equal(rows.filter(({ route }) => route === 'all').length, RUNS);
  assert.equal(answers.filter((code) => code === 'ignored').length, EVENTS - RUNS);
  // Some stored events lost their response with the gateway.
  assert.equal(answers.filter((code) => code === 'accepted' || code === 'duplicate').length, RUNS);
  assert.equal(rows.filter(({ event }) => event === 'alert').length, 1);
}

describe('a budget of a hundred runs', () => {
  it('accepts exactly a hundred of a thousand events on one gateway that is killed', async (t) => {
    check(await spend(t, 1, '', {}));
  });
});

describe('a budget of a hundred runs in a shared database', { skip: skipWithoutPostgres() }, () => {
  const url = suiteDatabase();

  it('accepts exactly a hundred of a thousand events on three gateways that are killed', async (t) => {
    check(await spend(t, 3, ', store: { postgres: env:DATABASE_URL }', { DATABASE_URL: url() }));
  });
});
