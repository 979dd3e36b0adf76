import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { claimOf, deferred, dispatchBench } from '../../helpers/dispatch-bench.ts';
import { makeDispatch } from '../../helpers/dispatches.ts';
import { settle } from '../../helpers/fake-clock.ts';
import { openJournaledStore } from '../../helpers/journaled-store.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

it('a run that does not fit into memory is read from the store, even one that was accepted just now', async (t) => {
  const store = openJournaledStore(join(tempDir(t), 'state.db'));
  t.after(() => store.close());
  const first = deferred<string>();
  const { service, runs } = dispatchBench({
    store,
    agent: ({ prompt }) => (prompt === 'first' ? first.promise : Promise.resolve('')),
    context: { limits: () => ({ max_concurrent_runs: 1, max_queued_runs: 10 }) },
  });
  const accept = async (id: string, prompt: string): Promise<void> => {
    const { kind } = await service.accept(makeDispatch(id, { prompt, delivery_id: id }), claimOf(id), null);
    assert.equal(kind, 'accepted');
  };
  await accept('a', 'first');
  await accept('b', 'x'.repeat(16 * 1024 * 1024 - 2500));
  await accept('c', 'y'.repeat(2000));
  assert.equal(store.find('c'), null);
  first.resolve('');
  await settle(20);
  assert.deepEqual(
    runs.map(({ prompt }) => prompt.slice(0, 5)),
    ['first', 'xxxxx', 'yyyyy'],
  );
});
