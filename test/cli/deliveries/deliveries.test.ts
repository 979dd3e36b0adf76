import assert from 'node:assert/strict';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { parseSince } from '../../../cli/deliveries/filter.ts';
import type { Accept } from '../../../runtime/store/mutations.ts';
import { openOfflineStore } from '../../../runtime/store/sqlite/open-store.ts';
import type { Store } from '../../../runtime/store/store.ts';
import { storePath } from '../../../runtime/store/store-path.ts';
import { runInProcess } from '../../helpers/cli.ts';
import { HOLDER, makeAccept, makeAdvance, makeAttempt, makeDispatch, makeTake } from '../../helpers/dispatches.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const NOW = Date.UTC(2026, 0, 10, 12);
const HOUR = 3_600_000;

interface Listed {
  readonly id: string;
  readonly state: string;
  readonly replay_of: string | null;
}

function setUp(t: TestContext) {
  const home = tempDir(t);
  const context = { clock: new FakeClock(NOW) };
  return {
    home,
    path: storePath(home),
    run: (...argv: string[]) => runInProcess(['deliveries', ...argv], { home, context }),
    async json<T>(...argv: string[]): Promise<T> {
      const { code, stdout, stderr } = await runInProcess(['deliveries', ...argv, '--json'], { home, context });
      assert.equal(code, 0, stderr);
      return JSON.parse(stdout) as T;
    },
  };
}

async function add(store: Store, id: string, age: number, overrides: Partial<Accept> & { route?: string } = {}) {
  const { route = 'alerts', ...rest } = overrides;
  const dispatch = makeDispatch(id, { accepted_at: NOW - age, route });
  const stored = await store.write(makeAccept(id, { dispatch, now: NOW - age, ...rest }));
  assert.ok(stored.kind === 'stored');
  return stored.ref;
}

/** Stored, and its run taken. */
async function addTaken(store: Store, id: string, age: number, overrides: Parameters<typeof add>[3] = {}) {
  const ref = await add(store, id, age, overrides);
  await store.write(makeTake(NOW - age));
  return ref;
}

/** done (route other), dead in delivery, dead in its run, pending; oldest first. */
async function fill(path: string): Promise<void> {
  const store = await openOfflineStore(path);
  const done = await addTaken(store, 'done1', 50 * HOUR, { route: 'other' });
  await store.write(makeAdvance(done, 'done', NOW - 50 * HOUR, { answer: 'text' }));
  const dead = await addTaken(store, 'dead1', 2 * HOUR);
  const at = NOW - 2 * HOUR;
  const open = [{ index: 0, target: 'log', due_at: at + 3000 }];
  const answer = 'an answer\u001b[31m';
  await store.write(makeAdvance(dead, 'delivering', at + 3000, { started_at: at + 1000, answer, open }));
  const first = { outcome: 'retry', reason: '429 by the target', next_at: at + 5500, started_at: at + 3000 } as const;
  const second = { outcome: 'permanent', reason: 'no such channel', started_at: at + 3000 } as const;
  await store.write(makeTake(at + 3000));
  await store.write(makeAttempt(dead, 0, at + 3500, first));
  await store.write(makeTake(at + 5500));
  await store.write(makeAttempt(dead, 0, at + 5600, second));
  const unrun = await addTaken(store, 'dead2', HOUR);
  await store.write(makeAdvance(unrun, 'dead', NOW - HOUR, { reason: 'run failed: exit 1' }));
  await add(store, 'pending1', 60_000);
  await store.close();
}

describe('deliveries list', () => {
  it('says that nothing is stored, and creates nothing', async (t) => {
    const { run, json, path } = setUp(t);
    const { code, stdout, stderr } = await run('list');
    assert.deepEqual([code, stdout, stderr], [0, '', 'nothing of that kind is stored\n']);
    assert.deepEqual(await json('list'), []);
    assert.equal(existsSync(path), false);
  });

  it('prints the newest first with state, age and reason', async (t) => {
    const { run, path } = setUp(t);
    await fill(path);
    const { stdout } = await run('list');
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/));
    assert.deepEqual(lines[0], ['ID', 'ROUTE', 'EVENT', 'STATE', 'AGE', 'DELIVERY ID', 'REASON']);
    assert.deepEqual(
      lines.slice(1).map(([id]) => id),
      ['pending1', 'dead2', 'dead1', 'done1'],
    );
    assert.deepEqual(lines[2], ['dead2', 'alerts', 'push', 'dead', '1 h', 'delivery-dead2', 'run failed: exit 1']);
  });

  const filters: readonly [readonly string[], string][] = [
    [['--state', 'dead'], 'dead2 dead1'],
    [['--route', 'other'], 'done1'],
    [['--since', '90min'], 'pending1 dead2'],
    [['--since', '2026-01-10T09:30Z', '--state', 'dead', '--route', 'alerts'], 'dead2 dead1'],
    [['--limit', '1'], 'pending1'],
    [['--job', 'brief'], ''],
  ];
  for (const [argv, expected] of filters) {
    it(`takes ${argv.join(' ')}`, async (t) => {
      const { json, path } = setUp(t);
      await fill(path);
      assert.equal((await json<Listed[]>('list', ...argv)).map(({ id }) => id).join(' '), expected);
    });
  }

  const mistakes: readonly [readonly string[], RegExp][] = [
    [['--state', 'deaf'], /there is no state "deaf"\n.*did you mean dead\?/],
    [['--since', 'tuesday'], /"tuesday" is no time/],
    [['--limit', '0'], /--limit takes a whole number above 0/],
  ];
  for (const [argv, message] of mistakes) {
    it(`refuses ${argv.join(' ')} as wrong usage`, async (t) => {
      const { code, stderr } = await setUp(t).run('list', ...argv);
      assert.equal(code, 2);
      assert.match(stderr, message);
    });
  }

  it('refuses a store it cannot read, naming the file', async (t) => {
    const { run, path } = setUp(t);
    mkdirSync(path);
    const { code, stderr } = await run('list');
    assert.equal(code, 1);
    assert.ok(stderr.includes(`cannot open ${path}`), stderr);
  });
});

describe('deliveries show', () => {
  it('prints every state and attempt in order', async (t) => {
    const { run, path } = setUp(t);
    await fill(path);
    const { stdout } = await run('show', 'dead1');
    const [facts = '', moments = ''] = stdout.trimEnd().split('\n\n');
    assert.match(facts, /^state {7}dead: log: no such channel$/m);
    assert.match(facts, /^delivery id delivery-dead1$/m);
    assert.deepEqual(moments.split('\n'), [
      '2026-01-10 10:00:00.000Z  accepted',
      '2026-01-10 10:00:01.000Z  run started',
      '2026-01-10 10:00:03.000Z  answered, 14 characters',
      '2026-01-10 10:00:03.500Z  delivery attempt 1 failed (log)  retry: 429 by the target  next in 2 s',
      '2026-01-10 10:00:05.600Z  delivery attempt 2 failed (log)  permanent: no such channel',
      '2026-01-10 10:00:05.600Z  dead  log: no such channel',
    ]);
  });

  it('prints prompt and answer with --full, and lets no stored text drive the terminal', async (t) => {
    const { run, path } = setUp(t);
    await fill(path);
    const { stdout } = await run('show', 'dead1', '--full');
    assert.match(stdout, /\nprompt:\nprompt of dead1\n\nanswer:\nan answer\\u001b\[31m\n$/);
  });

  it('prints everything as one object with --json', async (t) => {
    const { json, path } = setUp(t);
    await fill(path);
    const shown = await json<{ id: string; answer: string; timeline: unknown[]; steps: unknown[] }>('show', 'dead1');
    assert.deepEqual(
      [shown.id, shown.answer, shown.timeline.length, shown.steps.length],
      ['dead1', 'an answer\u001b[31m', 6, 2],
    );
  });

  it('refuses an id that is not there', async (t) => {
    const { code, stderr } = await setUp(t).run('show', 'nobody');
    assert.equal(code, 1);
    assert.match(stderr, /there is no delivery "nobody"/);
  });
});

describe('deliveries replay', () => {
  it('repeats one: what could not be delivered is delivered again, with the answer it had', async (t) => {
    const { run, json, path } = setUp(t);
    await fill(path);
    const { code, stdout, stderr } = await run('replay', 'dead1');
    assert.deepEqual([code, stderr], [0, '1 delivery repeated\n']);
    const id = /^dead1 -> (\w+)$/m.exec(stdout)?.[1] ?? '';
    const shown = await json<Listed & { answer: string }>('show', id);
    assert.deepEqual([shown.state, shown.replay_of, shown.answer], ['delivering', 'dead1', 'an answer\u001b[31m']);
  });

  it('repeats all of a state, newest first, and runs again what died in its run', async (t) => {
    const { json, path } = setUp(t);
    await fill(path);
    const done = await json<{ id: string; replay_of: string }[]>('replay', '--state', 'dead', '--since', '24h');
    assert.deepEqual(done.map(({ replay_of }) => replay_of).sort(), ['dead1', 'dead2']);
    const states = (await json<Listed[]>('list', '--limit', '2')).map(({ replay_of, state }) => [replay_of, state]);
    assert.deepEqual(
      new Map(states as [string, string][]),
      new Map([
        ['dead1', 'delivering'],
        ['dead2', 'pending'],
      ]),
    );
  });

  it('runs again with --rerun, and only tells with --dry-run', async (t) => {
    const { run, json, path } = setUp(t);
    await fill(path);
    const { stdout, stderr } = await run('replay', '--state', 'dead', '--dry-run');
    assert.deepEqual([stdout, stderr], ['dead2\ndead1\n', '2 deliveries would be repeated\n']);
    assert.equal((await json<Listed[]>('list')).length, 4);
    const [again] = await json<{ id: string }[]>('replay', 'dead1', '--rerun');
    assert.equal((await json<Listed>('show', again?.id ?? '')).state, 'pending');
  });

  it('repeats nothing when one of the ids cannot be', async (t) => {
    const { run, json, path } = setUp(t);
    await fill(path);
    for (const [id, why] of [
      ['pending1', /it is still pending/],
      ['nobody', /no delivery "nobody"/],
    ] as const) {
      const { code, stderr } = await run('replay', 'dead1', id);
      assert.equal(code, 1);
      assert.match(stderr, why);
    }
    assert.equal((await json<Listed[]>('list')).length, 4);
  });

  it('wants ids or a state, and not both', async (t) => {
    const { run } = setUp(t);
    assert.equal((await run('replay')).code, 2);
    assert.equal((await run('replay', 'a', '--state', 'dead')).code, 2);
  });

  it('shows a bar on a terminal while it repeats many', async (t) => {
    const { home, path } = setUp(t);
    const store = await openOfflineStore(path);
    for (let n = 0; n < 250; n++) {
      const ref = await add(store, `d${n}`, HOUR, { claim: null, work: { kind: 'held', holder: HOLDER } });
      await store.write(makeAdvance(ref, 'dead', NOW, { reason: 'x' }));
    }
    await store.close();
    let bar = '';
    const write = (chunk: Buffer, _: string, done: () => void): void => {
      bar += chunk.toString();
      done();
    };
    const stderr = Object.assign(new Writable({ write }), { isTTY: true, columns: 80 });
    const context = { clock: new FakeClock(NOW), stderr };
    const { code } = await runInProcess(['deliveries', 'replay', '--state', 'dead'], { home, context });
    assert.equal(code, 0);
    assert.match(bar, /250\/250 repeated/);
    assert.match(bar, /250 deliveries repeated\n$/);
    const reader = await openOfflineStore(join(home, 'state.db'));
    assert.equal((await reader.read({ kind: 'overview', now: NOW })).backlog.runs, 250);
    assert.deepEqual(await reader.read({ kind: 'audit' }), []);
    await reader.close();
  });
});

describe('parseSince', () => {
  it('reads spans and instants', () => {
    const now = Date.UTC(2026, 0, 10);
    assert.deepEqual(
      ['90s', '1.5h', '7d', '2026-01-05', '2026-01-05T08:00Z'].map((text) => parseSince(text, now)),
      [now - 90_000, now - 5_400_000, now - 604_800_000, Date.UTC(2026, 0, 5), Date.UTC(2026, 0, 5, 8)],
    );
  });
});
