/** Undoing an approval: once, and only where there is one. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { answerApproval, findApproval, undoApproval } from '../../../modules/outputs/runtime/approvals.ts';
import { consoleUrl } from '../../../modules/outputs/runtime/notice.ts';
import { claimOf, dispatchBench } from '../../helpers/dispatch-bench.ts';
import { makeDispatch } from '../../helpers/dispatches.ts';
import { settle } from '../../helpers/fake-clock.ts';

const NEEDS_APPROVAL = {
  deliveries: [{ target: 'chat', extra: { chat_id: '7' }, unresolved: [], approve_ms: 60_000 }],
};

it('says that nothing was approved, or that another person has undone it already', async () => {
  const { service, store, clock } = dispatchBench();
  await service.start();
  await service.accept(makeDispatch('a', NEEDS_APPROVAL), claimOf('1'), null);
  await settle();
  const found = await findApproval(store, 'a');
  const id = found.kind === 'found' ? found.approval.id : '';
  const undo = (by: string) =>
    undoApproval(store, id, by, clock.now()).then(
      ({ kind }) => kind,
      (error: Error) => error.message,
    );
  assert.match(await undo('ann'), /nothing was approved/);
  const given = await answerApproval(
    store,
    id,
    { approve: true, by: 'ann', reason: null, delay_ms: 5000 },
    clock.now(),
  );
  assert.equal(given.kind, 'answered');
  const [one = '', other = ''] = (await Promise.all([undo('ann'), undo('bob')])).sort();
  assert.equal(one, 'answered');
  assert.match(other, /undone already/);
  assert.match(await undo('eve'), /undone already/);
  const again = await findApproval(store, id);
  assert.equal(again.kind === 'found' && again.approval.state, 'waiting');
});

it('links to the console below its path', () => {
  const plan = { host: '127.0.0.1', port: 8645, token: null };
  assert.equal(consoleUrl({ ...plan, base_path: '/ops' }), 'http://127.0.0.1:8645/ops');
  assert.equal(consoleUrl(plan), 'http://127.0.0.1:8645');
});
