/** The log of what people do: which operation, about what, and by whom. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ControlHandlers } from '../../../runtime/control/operations.ts';
import { logged } from '../../../runtime/control/operations.ts';
import { actor } from '../../../runtime/store/actor.ts';

it('logs each operation of a person once it has succeeded, without its texts', async () => {
  const lines: object[] = [];
  const handlers = logged(
    {
      ping: () => ({ pid: 1 }),
      store_write: (change) => {
        if (change.kind === 'remove_job') throw new Error('the store is full');
        return null as never;
      },
    },
    { info: (fields: object) => void lines.push(fields) },
  );
  await handlers.ping?.({});
  const pause = {
    kind: 'pause_route',
    profile: 'default',
    route: 'alerts',
    paused: true,
    until: null,
    now: 5,
  } as const;
  await handlers.store_write?.(pause);
  await handlers.store_write?.({ ...pause, by: 'cli:ann' });
  const row = { kind: 'session', key: '["default","s"]' } as const;
  const guard = {
    kind: 'put_guard',
    row,
    expect: null,
    body: 'a secret',
    expires_at: null,
    dispatch: null,
    now: 5,
  } as const;
  await handlers.store_write?.({ ...guard, by: 'console:bob' });
  await assert.rejects(async () => handlers.store_write?.({ kind: 'remove_job', id: 'x', by: 'cli:ann' }));
  assert.deepEqual(lines, [
    { by: 'cli:ann', operation: 'store_write', kind: 'pause_route', profile: 'default', route: 'alerts', paused: true },
    { by: 'console:bob', operation: 'store_write', kind: 'put_guard', key: row.key },
  ]);
});

it('logs nothing for an operation that changed nothing: refused, late, a second time, or only checked', async () => {
  const lines: object[] = [];
  let result: unknown;
  const answers = { store_write: () => result, approvals_answer: () => result, approvals_undo: () => result };
  const handlers = logged(
    { ...answers, job_edit: () => result, create_blueprint_job: () => result } as ControlHandlers,
    { info: (fields: object) => void lines.push(fields) },
  );
  const by = 'console:ann';
  const calls: readonly [keyof ControlHandlers, object, readonly unknown[], unknown][] = [
    ['store_write', { kind: 'remove_job', id: 'x' }, [false], true],
    ['store_write', { kind: 'put_job' }, [{ kind: 'name_taken' }, { kind: 'unknown' }], { kind: 'stored' }],
    ['store_write', { kind: 'fire_job' }, [{ kind: 'paused' }, { kind: 'over_limit' }], { kind: 'stored' }],
    ['approvals_answer', { id: 'x' }, [{ kind: 'late' }, { kind: 'unknown' }], { kind: 'answered' }],
    ['approvals_undo', { id: 'x' }, [{ kind: 'late' }, { kind: 'ambiguous' }], { kind: 'answered' }],
  ];
  for (const [name, input, refusals, done] of calls) {
    const handler = handlers[name] as (input: object) => Promise<unknown>;
    for (result of refusals) assert.equal(await handler({ ...input, by }), result);
    assert.equal(lines.length, 0, name);
    result = done;
    await handler({ ...input, by });
    assert.equal(lines.splice(0).length, 1, name);
  }
  result = { job: 'x' };
  for (const name of ['job_edit', 'create_blueprint_job'] as const) {
    const handler = handlers[name] as (input: object) => Promise<unknown>;
    await handler({ dry_run: true, by });
    assert.equal(lines.length, 0, name);
    await handler({ dry_run: false, by });
    assert.equal(lines.splice(0).length, 1, name);
  }
});

it('names a person in one printable line of limited length, whose beginning says where the person acts', () => {
  assert.equal(actor('cli', 'ann'), 'cli:ann');
  assert.equal(actor('console', null), 'console');
  assert.equal(actor('slack', 'U123 (Ann)'), 'slack:U123 (Ann)');
  assert.equal(actor('cli', 'console:ann'), 'cli:console:ann');
  for (const odd of ['a\nb', 'a\u0000b', 'a\u202eb', 'a\u001b[2Jb', 'a\u200bb', 'a\ud800b'])
    assert.match(actor('cli', odd), /^cli:a\ufffd(?:\[2J)?b$/, JSON.stringify(odd));
  assert.ok(actor('cli', 'x'.repeat(100_000)).length <= 101);
});
