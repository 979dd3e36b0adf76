/**
 * A gateway that was suspended for longer than its lease: its late writes change nothing that another has taken over.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { it } from 'node:test';
import { atEnd } from '../../../helpers/at-end.ts';
import { makeAdvance } from '../../../helpers/dispatches.ts';
import { nodeArgv } from '../../../helpers/node-argv.ts';
import { skipWithoutPostgres } from '../../../helpers/postgres/binaries.ts';
import { runSql, testDatabase } from '../../../helpers/postgres/database.ts';
import { openTestStore } from '../../../helpers/postgres/store.ts';
import { audit, find, take } from '../../../runtime/store/conformance/subject.ts';

const LATE = new URL('../../../helpers/postgres/run-late-writer.js', import.meta.url);

it('a late writer changes nothing', { skip: skipWithoutPostgres(), timeout: 300_000 }, async (t) => {
  const url = await testDatabase(t);
  const [node = '', ...argv] = nodeArgv(LATE);
  const child = spawn(node, [...argv, url, 'late'], { stdio: ['pipe', 'pipe', 'inherit'] });
  atEnd(t, () => child.kill('SIGKILL'));
  const said = async (): Promise<string> => String(((await once(child.stdout, 'data')) as [Buffer])[0]);
  assert.equal(await said(), 'taken 1\n');
  child.kill('SIGSTOP');
  const store = await openTestStore(url, 'late');
  atEnd(t, () => store.close());
  // Its ten seconds are skipped: nothing renews the lease of a stopped process.
  await runSql(url, "UPDATE late.node SET until = '-infinity' WHERE id = 1");
  const recover = { kind: 'recover', holder: 'other', now: 3000, under_way: { runs: [], attempts: [] } } as const;
  assert.equal((await store.write(recover)).runs, 1);
  const [run] = (await take(store, 3000, { holder: 'other' })).runs;
  child.stdin.write('go on\n');
  child.kill('SIGCONT');
  assert.equal(await said(), 'ended false, then took 0\n');
  assert.equal((await find(store, 'a'))?.state, 'running');
  const ours = { ...makeAdvance(run?.ref ?? 0, 'done', 4000, { answer: 'ours' }), holder: 'other' };
  assert.equal(await store.write(ours), true);
  const { state, answer } = (await find(store, 'a')) ?? {};
  assert.deepEqual({ state, answer }, { state: 'done', answer: 'ours' });
  assert.deepEqual(await audit(store), []);
});
