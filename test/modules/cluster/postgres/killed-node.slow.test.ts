/**
 * A gateway on PostgreSQL is killed: another one takes over its work automatically, when its lease of 10 s has ended.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { it } from 'node:test';
import { atEnd } from '../../../helpers/at-end.ts';
import { nodeArgv } from '../../../helpers/node-argv.ts';
import { skipWithoutPostgres } from '../../../helpers/postgres/binaries.ts';
import { runSql, testDatabase } from '../../../helpers/postgres/database.ts';
import { openTestStore } from '../../../helpers/postgres/store.ts';
import { audit, find, take } from '../../../runtime/store/conformance/subject.ts';

const DOOMED = new URL('../../../helpers/postgres/run-doomed-store.js', import.meta.url);

it('takes over the running work of a killed gateway', { skip: skipWithoutPostgres(), timeout: 300_000 }, async (t) => {
  const url = await testDatabase(t);
  const [node = '', ...argv] = nodeArgv(DOOMED);
  const child = spawn(node, [...argv, url, 'killed'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  atEnd(t, () => child.kill('SIGKILL'));
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  assert.equal(line.toString(), 'taken 1\n');
  const store = await openTestStore(url, 'killed');
  atEnd(t, () => store.close());
  const recover = { kind: 'recover', holder: 'other', now: 3000, under_way: { runs: [], attempts: [] } } as const;
  assert.equal((await store.write(recover)).runs, 0, 'it still has its lease');
  const left = new Promise<void>((resolve) => store.shared?.watch((change) => change === 'left' && resolve()));
  child.kill('SIGKILL');
  await once(child, 'close');
  const [lease] = await runSql<{ seconds: number }>(
    url,
    'SELECT extract(epoch FROM max(until - clock_timestamp()))::float8 AS seconds FROM killed.node WHERE id = 1',
  );
  assert.ok((lease?.seconds ?? Infinity) <= 10, JSON.stringify(lease));
  await left;
  assert.equal((await store.write(recover)).runs, 1);
  assert.equal((await take(store, 3000, { holder: 'other' })).runs.length, 1);
  assert.deepEqual(
    (await find(store, 'a'))?.steps.map(({ outcome }) => outcome),
    ['interrupted'],
  );
  assert.deepEqual(await audit(store), []);
});
