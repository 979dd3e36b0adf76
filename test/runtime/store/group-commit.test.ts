import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { StoreUnavailable } from '../../../runtime/store/contract.ts';
import type { CommitResult, EncodedChange } from '../../../runtime/store/group-commit.ts';
import { decodeChange, GroupCommit } from '../../../runtime/store/group-commit.ts';
import { Together } from '../../../runtime/store/together.ts';
import { makeAccept, makeDispatch, makeTake } from '../../helpers/dispatches.ts';
import { settle } from '../../helpers/fake-clock.ts';

/** A group commit over a disk of configurable speed. */
function bench() {
  const groups: (readonly EncodedChange[])[] = [];
  const ends: ((results: readonly CommitResult[]) => void)[] = [];
  const problems: string[] = [];
  let told = 0;
  const group = new GroupCommit({
    commit: (changes) => {
      groups.push(changes);
      return new Promise((resolve) => ends.push(resolve));
    },
    beforeCommit: () => void told++,
    failed: (problem) => void problems.push(problem),
  });
  return {
    group,
    problems,
    /** The kinds of the changes of each group that was sent. */
    kinds: () => groups.map((changes) => changes.map((change) => decodeChange(change).kind)),
    sizes: () => groups.map(({ length }) => length),
    told: () => told,
    async end(result: CommitResult = { kind: 'ok', value: null }): Promise<void> {
      ends.shift()?.((groups[groups.length - ends.length - 1] ?? []).map(() => result));
      await settle();
    },
  };
}

const small = (id: string) => makeAccept(id);

describe('group commit', () => {
  it('sends a change immediately, and later ones together as soon as that is committed', async () => {
    const { group, sizes, end } = bench();
    void group.write(small('a'));
    assert.deepEqual(sizes(), [1]);
    for (const id of ['b', 'c', 'd']) void group.write(small(id));
    await settle();
    assert.deepEqual(sizes(), [1], 'one commit at a time');
    await end();
    assert.deepEqual(sizes(), [1, 3]);
    await end();
    assert.deepEqual(sizes(), [1, 3]);
  });

  it('never divides the changes of one request, however many they are', async () => {
    const { group, sizes, end } = bench();
    void group.write(small('a'));
    const together = new Together(1501);
    for (let n = 0; n < 900; n++) void group.write(small(`b${n}`));
    for (let n = 0; n < 1500; n++) void group.write(small(`c${n}`), { together });
    assert.equal(together.size, 1500);
    for (let n = 0; n < 10; n++) void group.write(small(`d${n}`));
    together.leave(false);
    for (let n = 0; n < 10; n++) void group.write(small(`e${n}`));
    await end();
    await end();
    await end();
    assert.deepEqual(sizes(), [1, 2410, 10]);
    await end();
  });

  it('sends the end of a run with the next `take_work`, which it wakes', async () => {
    const { group, kinds, end } = bench();
    void group.write({ kind: 'advance', ref: 1, holder: 'h', to: 'skipped', at: 0 });
    queueMicrotask(() => void group.write(makeTake(1000)));
    await settle();
    assert.deepEqual(kinds(), [['advance', 'take_work']]);
    await end();
  });

  it("returns each change's own result", async () => {
    const { group, end } = bench();
    const first = assert.rejects(group.write(small('a')), /cannot store accept: no such thing/);
    await end({ kind: 'failed', message: 'no such thing' });
    await first;
    const isUnavailable = (error: unknown): boolean =>
      error instanceof StoreUnavailable && error.message === 'disk full';
    const second = assert.rejects(group.write(small('b')), isUnavailable);
    await end({ kind: 'unavailable', message: 'disk full' });
    await second;
  });

  it('limits the size of a group', async () => {
    const { group, sizes, end } = bench();
    void group.write(small('first'));
    const big = makeDispatch('big', { prompt: 'x'.repeat(1_500_000) });
    for (let n = 0; n < 6; n++) void group.write(makeAccept(`b${n}`, { dispatch: big })).catch(() => {});
    await end();
    await end();
    await end();
    assert.deepEqual(sizes(), [1, 2, 2, 2]);
  });

  it('calls beforeCommit before the commit of a change that records something', async () => {
    const { group, told, end } = bench();
    void group.write(small('a'));
    assert.equal(told(), 0);
    void group.write(makeTake(1000));
    await end();
    assert.equal(told(), 1);
  });

  it('reports a group that was not stored, and no other', async () => {
    const { group, problems, end } = bench();
    void group.write(small('a')).catch(() => {});
    await end({ kind: 'unavailable', message: 'full' });
    void group.write(small('b'));
    await end();
    assert.deepEqual(problems, ['full']);
  });
});

describe('overload', () => {
  const refused = (error: unknown): boolean =>
    error instanceof StoreUnavailable && /store is too slow/.test(error.message);

  /** Lets time pass, a tick at a time, with an event loop that is not blocked. */
  const pass = (t: TestContext, ms: number): void => {
    for (let passed = 0; passed < ms; passed += 100) t.mock.timers.tick(100);
  };

  it('accepts new work behind one slow commit: the next one stores it', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { group, end } = bench();
    void group.write(small('running'));
    const waits = group.write(small('waits'));
    pass(t, 2400);
    const late = group.write(small('late'));
    await end();
    await end();
    await Promise.all([waits, late]);
  });

  it('rejects new work while the queue is over its memory limit', async () => {
    const { group, end } = bench();
    void group.write(small('running'));
    const big = makeDispatch('big', { prompt: 'x'.repeat(1_000_000) });
    const all = Array.from({ length: 40 }, (_, n) => group.write(makeAccept(`b${n}`, { dispatch: big })));
    const settling = Promise.allSettled(all);
    for (let n = 0; n < 20; n++) await end();
    const settled = await settling;
    const count = settled.filter(({ status }) => status === 'fulfilled').length;
    assert.ok(count > 25 && count < 40, `${count} taken`);
  });

  it('removes work that has waited too long behind a hanging commit', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { group, end, kinds } = bench();
    void group.write(small('running'));
    const waits = assert.rejects(group.write(small('waits')), refused);
    const happened = group.write(makeTake(1000));
    const patient = group.write(small('patient'), { wait_ms: 8000 });
    pass(t, 2600);
    await waits;
    pass(t, 5300);
    await end();
    await end();
    await happened;
    await patient;
    assert.deepEqual(kinds(), [['accept'], ['take_work', 'accept']]);
  });
});
