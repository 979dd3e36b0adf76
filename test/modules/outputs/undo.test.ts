/** Undoing an approval: once, and only where there is one. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { it } from 'node:test';
import { runtimeParts } from '../../../cli/base/module.ts';
import { MODULES } from '../../../main/modules.ts';
import {
  answerApproval,
  findApproval,
  listApprovals,
  undoApproval,
} from '../../../modules/outputs/runtime/approvals.ts';
import { consoleUrl } from '../../../modules/outputs/runtime/notice.ts';
import { loadChanges } from '../../../runtime/module.ts';
import type { Store } from '../../../runtime/store/contract.ts';
import { openOfflineStore } from '../../../runtime/store/sqlite/open-store.ts';
import { storePath } from '../../../runtime/store/store-path.ts';
import { runInProcess } from '../../helpers/cli.ts';
import { claimOf, dispatchBench } from '../../helpers/dispatch-bench.ts';
import { makeAccept, makeDispatch } from '../../helpers/dispatches.ts';
import { FakeClock, settle } from '../../helpers/fake-clock.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

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

/** A home in which a message waits for a minute for an approval, and the commands at a time. */
async function openHome(t: TestContext) {
  const home = tempDir(t);
  const clock = new FakeClock(Date.UTC(2026, 0, 1));
  const open = [{ index: 0, target: 'chat', due_at: clock.now() + 60_000, blocked_by: 'approval' }] as const;
  const dispatch = makeDispatch('a', { mode: 'message', ...NEEDS_APPROVAL });
  const work = { kind: 'deliveries', answer: null, open } as const;
  const inStore = async <T>(use: (store: Store) => Promise<T>): Promise<T> => {
    const store = await openOfflineStore(storePath(home), { parts: await loadChanges(runtimeParts(MODULES)) });
    try {
      return await use(store);
    } finally {
      await store.close();
    }
  };
  await inStore((store) => store.write(makeAccept('a', { dispatch, claim: null, work, now: clock.now() })));
  const [id = ''] = (await inStore(listApprovals)).map((one) => one.id);
  const answer = { approve: true, by: 'console:eve', reason: null, delay_ms: 5000 };
  return {
    clock,
    id,
    approve: () => inStore((store) => answerApproval(store, id, answer, clock.now())),
    run: (...args: readonly string[]) => runInProcess(args, { home, context: { clock } }),
  };
}

it('is possible by a command, which `approvals show` names until the approval takes effect', async (t) => {
  const { clock, id, approve, run } = await openHome(t);
  assert.match((await run('approvals', 'undo', id)).stderr, /nothing was approved/);
  await approve();
  const shown = await run('approvals', 'show', id);
  assert.match(shown.stdout, new RegExp(`in 5 s; .*approvals undo ${id}`));
  clock.advance(4999);
  const undone = await run('approvals', 'undo', id, '--by', 'ann');
  assert.equal(undone.code, 0, undone.stderr);
  assert.match(undone.stdout, /waiting until 2026-01-01 00:01/);
  assert.doesNotMatch((await run('approvals', 'show', id)).stdout, /approvals undo/);
  assert.match((await run('approvals', 'undo', id)).stderr, /undone already/);
  assert.match((await run('approvals', 'undo', 'nosuch')).stderr, /no approval "nosuch"/);
  await approve();
  await run('approvals', 'reject', id);
  clock.advance(5001);
  assert.doesNotMatch((await run('approvals', 'show', id)).stdout, /approvals undo/);
});

it('after the message has expired says so', async (t) => {
  const { clock, id, approve, run } = await openHome(t);
  clock.advance(58_000);
  await approve();
  clock.advance(3000);
  const undone = await run('approvals', 'undo', id);
  assert.equal(undone.code, 0, undone.stderr);
  assert.match(undone.stdout, /expired/);
  assert.doesNotMatch(undone.stdout, /waiting/);
});

it('is not possible for a message that has expired without an answer, and every command says that it has', async (t) => {
  const { clock, id, run } = await openHome(t);
  clock.advance(59_999);
  assert.match((await run('approvals', 'show', id)).stdout, /^state +waiting until/m);
  clock.advance(1);
  const shown = await run('approvals', 'show', id);
  assert.match(shown.stdout, /^state +expired/m);
  assert.doesNotMatch(shown.stdout, /waiting/);
  for (const json of [await run('approvals', 'show', id, '--json'), await run('approvals', 'list', '--json')])
    assert.equal([JSON.parse(json.stdout)].flat()[0].state, 'expired');
  assert.match((await run('approvals', 'list')).stdout, new RegExp(`^${id} .* expired `, 'm'));
  for (const verb of ['approve', 'reject', 'undo']) {
    const refused = await run('approvals', verb, id);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /expired/);
    assert.doesNotMatch(refused.stderr, /waits/);
  }
});
