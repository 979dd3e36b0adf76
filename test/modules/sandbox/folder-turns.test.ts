/** Runs of one folder, one after the other. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FolderTurns } from '../../../modules/sandbox/runtime/folder-turns.ts';

const settled = async (promise: Promise<unknown>): Promise<boolean> => {
  let done = false;
  void promise.then(() => {
    done = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  return done;
};

test('runs of one folder are in their order, those of others do not wait', async () => {
  const turns = new FolderTurns();
  const end = await turns.take('/a');
  const [second, third] = [turns.take('/a'), turns.take('/a')];
  assert.ok(await settled(turns.take('/b')));
  assert.ok(!(await settled(second)));
  end();
  (await second)();
  assert.ok(await settled(third));
});

test('a run that is cancelled does not wait, and does not let the next one in before its predecessor has ended', async () => {
  const turns = new FolderTurns();
  const cancel = new AbortController();
  const end = await turns.take('/a');
  const second = turns.take('/a', cancel.signal);
  const third = turns.take('/a');
  cancel.abort();
  (await second)();
  assert.ok(!(await settled(third)));
  end();
  assert.ok(await settled(third));
});
