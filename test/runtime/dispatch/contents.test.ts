/** The delivered content when another process may have run the agent. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Contents } from '../../../runtime/dispatch/contents.ts';
import { makeAccept, makeAdvance, makeDispatch, makeTake } from '../../helpers/dispatches.ts';
import { createMemoryStore } from '../../helpers/memory-store.ts';

it('delivers the answer of another process to an event that this one has accepted', async () => {
  const store = {
    ...createMemoryStore(),
    shared: { otherTables: () => [], refused: () => [], watch: () => {}, window: () => assert.fail() },
  };
  const contents = new Contents(store);
  const dispatch = makeDispatch('a', { deliveries: [{ target: 'log', extra: {}, unresolved: [] }] });
  const stored = await store.write({ ...makeAccept('a'), dispatch });
  assert.ok(stored.kind === 'stored');
  contents.keep(stored.ref, dispatch, null);
  await store.write(makeTake(1000));
  const open = [{ index: 0, target: 'log', due_at: 2000 }];
  await store.write(makeAdvance(stored.ref, 'delivering', 2000, { answer: 'the answer', open }));
  assert.equal((await contents.forDelivery(stored.ref, 0))?.text, 'the answer');
  assert.equal((await contents.forRun(stored.ref))?.prompt, dispatch.prompt);
});
