/** Tests captured requests of gateways that share a database. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { runInProcess } from '../../../helpers/cli.ts';
import { startGateway, until } from '../../../helpers/gateway.ts';
import { skipWithoutPostgres } from '../../../helpers/postgres/binaries.ts';
import { testDatabase } from '../../../helpers/postgres/database.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const CONFIG = `
gateway: { store: { postgres: env:DATABASE_URL } }
platforms: { webhook: { enabled: true, secret: env:SECRET, routes: { ci: { prompt: x, filters: { field: a, equals: 1 } } } } }
`;

it('are listed and shown by every gateway, and without one', { skip: skipWithoutPostgres() }, async (t) => {
  const env = { DATABASE_URL: await testDatabase(t), SECRET: 'a-secret-of-the-table' };
  const [home, other] = [tempDir(t), tempDir(t)];
  const one = await startGateway(t, { home, env, config: CONFIG });
  const two = await startGateway(t, { home: other, env, config: CONFIG });
  assert.match((await one.cli('webhook', 'test', 'ci', '--payload', '{"a":1}')).stdout, /202/);
  assert.match((await two.cli('webhook', 'test', 'ci', '--payload', '{"a":2}')).stdout, /ignored/);
  const ids = await until(async () => {
    const found = JSON.parse((await two.cli('requests', 'list', '--json')).stdout) as { id: string; outcome: string }[];
    return found.length === 2 && new Map(found.map(({ id, outcome }) => [outcome, id]));
  });
  const shown = await two.cli('requests', 'show', ids.get('accepted') ?? '', '--body');
  assert.match(shown.stdout, /"a":\s*1/);
  await one.stop();
  const replayed = await two.cli('requests', 'replay', ids.get('accepted') ?? '', '--json');
  const { status, replay_of } = JSON.parse(replayed.stdout || '{}');
  assert.deepEqual([status, replay_of], [202, ids.get('accepted')], replayed.stderr);
  assert.match((await two.cli('requests', 'replay', 'zzzz')).stderr, /"zzzz".*\n.*hookwright requests list/);
  await until(async () => JSON.parse((await two.cli('requests', 'list', '--json')).stdout).length === 3);
  await two.stop();
  const listed = await runInProcess(['requests', 'list', '--json'], { home, env });
  assert.equal((JSON.parse(listed.stdout) as unknown[]).length, 3, listed.stderr);
});
