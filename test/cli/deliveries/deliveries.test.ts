import assert from 'node:assert/strict';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import type { TestContext } from 'node:test';
import { describe, it, test } from 'node:test';
import { parseSince } from '../../../cli/deliveries/filter.ts';
import type { Accept, Store } from '../../../runtime/store/contract.ts';
import type { StoredDispatch } from '../../../runtime/store/queries.ts';
import { openOfflineStore } from '../../../runtime/store/sqlite/open-store.ts';
import { storePath } from '../../../runtime/store/store-path.ts';
import type { RunFacts, ShownOutput } from '../../../runtime/store/timeline.ts';
import type { OutputContent } from '../../../schemas/generated/types.ts';
import { runInProcess } from '../../helpers/cli.ts';
import {
  HOLDER,
  makeAccept,
  makeAdvance,
  makeAttempt,
  makeClaim,
  makeDispatch,
  makeStep,
  makeTake,
} from '../../helpers/dispatches.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { expectGolden, screensOf } from '../../helpers/golden.ts';
import { makeFire } from '../../helpers/jobs.ts';
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

/** Stores a dispatch and takes its run. */
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
  const answered = { exit_code: 0, signal: null, stderr: 'warned\u001b[2J\n' };
  const run = { started_at: at + 1000, answer, program: answered, open };
  await store.write(makeAdvance(dead, 'delivering', at + 3000, run));
  const first = { outcome: 'retry', reason: '429 by the target', next_at: at + 5500, started_at: at + 3000 } as const;
  const second = { outcome: 'permanent', reason: 'no such channel', started_at: at + 3000 } as const;
  await store.write(makeTake(at + 3000));
  await store.write(makeAttempt(dead, 0, at + 3500, first));
  await store.write(makeTake(at + 5500));
  await store.write(makeAttempt(dead, 0, at + 5600, second));
  const unrun = await addTaken(store, 'dead2', HOUR);
  const program = { exit_code: 3, signal: null, stderr: 'first line\nno quota left\n' };
  const failed = (outcome: 'failed' | 'interrupted') =>
    makeStep({ outcome, at: NOW - HOUR, reason: 'exit 3', program });
  const steps = [failed('interrupted'), failed('failed')];
  const gone = { reason: 'run failed: exit 3', started_at: NOW - HOUR - 90_000, steps };
  await store.write(makeAdvance(unrun, 'dead', NOW - HOUR, gone));
  await add(store, 'pending1', 60_000);
  await store.close();
}

test('show has the outputs of the agent as text, and links to what was posted', async (t) => {
  const { path, run, json } = setUp(t);
  const store = await openOfflineStore(path);
  const extra = { repo: 'o/r', number: '7' };
  const to = (name: string, content: OutputContent) => ({
    ...{ target: 'github_labels', extra, unresolved: [] },
    output: { name, content },
  });
  const deliveries = [
    to('labels', { labels: ['bug', 'docs'] }),
    to('comment', { text: 'line 1\n\u001b[31mline 2' }),
    to('review', { text: 'See below.', comments: [{ path: 'a.ts', line: 3 }] }),
    { target: 'log', extra: {}, unresolved: [] },
  ];
  const ref = await addTaken(store, 'one', HOUR);
  const dispatch = makeDispatch('one', { accepted_at: NOW - HOUR, deliveries });
  const open = deliveries.map(({ target }, index) => ({ index, target, due_at: NOW - HOUR }));
  await store.write(makeAdvance(ref, 'delivering', NOW - HOUR, { answer: 'done', dispatch, open }));
  await store.write(makeTake(NOW - HOUR));
  const posted = { outcome: 'ok', reason: null, sent: 1, message_id: 'https://example.org/o/r/7#c1' } as const;
  await store.write(makeAttempt(ref, 1, NOW - HOUR, posted));
  await store.close();
  const { stdout } = await run('show', 'one');
  assert.match(stdout, /^posted +https:\/\/example.org\/o\/r\/7#c1$/m);
  assert.match(stdout, /\boutput labels to github_labels repo=o\/r number=7, not delivered:\nlabels: bug, docs\n/);
  assert.match(stdout, /\boutput comment to .*, https:\S+#c1:\nline 1\n.*line 2\n/);
  assert.match(stdout, /\boutput review to .*:\ncomments: \[\{"path":"a.ts","line":3\}\]\nSee below\.\n/);
  assert.ok(!stdout.includes('\u001b'));
  const { outputs } = await json<{ outputs: readonly ShownOutput[] }>('show', 'one');
  assert.deepEqual(
    outputs.map(({ name, delivered, message_id }) => [name, delivered, message_id]),
    [
      ['labels', false, null],
      ['comment', true, 'https://example.org/o/r/7#c1'],
      ['review', false, null],
    ],
  );
});

test('list hides messages of the gateway itself without --all', async (t) => {
  const { path, json } = setUp(t);
  const store = await openOfflineStore(path);
  await add(store, 'event', HOUR);
  const own = makeDispatch('alert', { accepted_at: NOW, mode: 'message', route: null, event: 'alert' });
  await store.write(makeAccept('alert', { dispatch: own, now: NOW }));
  await store.close();
  const ids = async (...argv: string[]) => (await json<Listed[]>('list', ...argv)).map(({ id }) => id);
  assert.deepEqual([await ids(), await ids('--all')], [['event'], ['alert', 'event']]);
});

test('show finds a delivery by the delivery id of its sender, and names the ids if several have it', async (t) => {
  const { path, run, json } = setUp(t);
  const store = await openOfflineStore(path);
  const given = (id: string, delivery_id: string) =>
    store.write(
      makeAccept(id, { dispatch: makeDispatch(id, { accepted_at: NOW, delivery_id }), now: NOW, claim: null }),
    );
  await given('0mb1', '72d3162e-cc78');
  await given('0mb2', 'twice');
  await given('0mb3', 'twice');
  await store.close();
  assert.equal((await json<Listed>('show', '72d3162e-cc78')).id, '0mb1');
  const { code, stderr } = await run('show', 'twice');
  assert.equal(code, 1);
  assert.match(stderr, /0mb2/);
  assert.match(stderr, /0mb3/);
  assert.equal((await run('show', '72d3162e')).code, 1);
});

test('show --json has the display names of targets', async (t) => {
  const { path, json } = setUp(t);
  const store = await openOfflineStore(path);
  const delivery = { target: 'workspace_chat', label: 'slack', extra: {}, unresolved: [] };
  const deliveries = [delivery];
  const outputs = [{ name: 'page', fields: [], allow: {}, max: 1, delivery }];
  const dispatch = makeDispatch('one', { accepted_at: NOW, deliveries, on_failure: deliveries, outputs });
  await store.write(makeAccept('one', { dispatch, now: NOW }));
  await store.close();
  const shown = await json<StoredDispatch>('show', 'one');
  const named = { target: 'slack', extra: {}, unresolved: [] };
  assert.deepEqual(shown.dispatch.deliveries, [named]);
  assert.deepEqual(shown.dispatch.on_failure, [named]);
  assert.deepEqual(shown.dispatch.outputs?.[0]?.delivery, named);
});

test('the commands print screens in which stored text cannot control the terminal', async (t) => {
  const { home, path } = setUp(t);
  const run = (...argv: string[]) => runInProcess(argv, { home, context: { clock: new FakeClock(NOW) } });
  const empty = await screensOf(run, ['deliveries', 'list']);
  await fill(path);
  const screens = await screensOf(
    run,
    ['deliveries', 'list'],
    ['deliveries', 'list', '--route', 'alert'],
    ['deliveries', 'list', '--state', 'deaf'],
    ['deliveries', 'show', 'dead1'],
    ['deliveries', 'show', 'dead2', '--full'],
    ['deliveries', 'show', 'unknown'],
    ['deliveries', 'replay', 'dead1', 'pending1'],
    ['deliveries', 'replay', '--state', 'dead', '--dry-run'],
    ['deliveries', 'replay', 'dead1'],
  );
  assert.ok(!screens.includes('\u001b'));
  expectGolden('cli/deliveries/deliveries.txt', `${empty}\n${screens}`);
});

describe('deliveries list', () => {
  it('creates no store', async (t) => {
    const { run, json, path } = setUp(t);
    const { code, stdout } = await run('list');
    assert.deepEqual([code, stdout], [0, '']);
    assert.deepEqual(await json('list'), []);
    assert.equal(existsSync(path), false);
  });

  it('lists the newest first, with state and reason', async (t) => {
    const { json, path } = setUp(t);
    await fill(path);
    const rows = await json<readonly (Listed & { readonly reason: string | null })[]>('list');
    assert.deepEqual(
      rows.map(({ id, state, reason }) => [id, state, reason]),
      [
        ['pending1', 'pending', null],
        ['dead2', 'dead', 'run failed: exit 3'],
        ['dead1', 'dead', 'log: no such channel'],
        ['done1', 'done', null],
      ],
    );
  });

  it('rejects an unknown route or job and suggests the closest name', async (t) => {
    const { run, path } = setUp(t);
    await fill(path);
    for (const argv of [['list'], ['replay', '--state', 'dead']]) {
      const route = await run(...argv, '--route', 'alert');
      assert.deepEqual([route.code, route.stdout], [1, '']);
      assert.match(route.stderr, /"alert"\n.*\balerts\b/);
      const job = await run(...argv, '--job', 'nosuch');
      assert.deepEqual([job.code, job.stderr.includes('"nosuch"')], [1, true]);
    }
  });

  it('accepts the name of a job', async (t) => {
    const { run, json, home, path } = setUp(t);
    const words = ['job', 'create', 'report', '--schedule', '0 7 * * *', '--prompt', 'x', '--json'];
    const made = await runInProcess(words, { home });
    const { id } = JSON.parse(made.stdout) as { readonly id: string };
    assert.notEqual(id, 'report');
    const store = await openOfflineStore(path);
    const dispatch = makeDispatch('fired', { accepted_at: NOW, route: null, job: id });
    await store.write(makeAccept('fired', { dispatch, now: NOW }));
    await store.close();
    for (const job of ['report', 'rep', id]) {
      const rows = await json<readonly Listed[]>('list', '--job', job);
      assert.deepEqual(
        rows.map((row) => row.id),
        ['fired'],
        job,
      );
    }
    assert.match((await run('list', '--job', 'reprot')).stderr, /\breport\b/);
    assert.match((await run('list')).stdout, new RegExp(`^fired +job report \\(${id}\\) `, 'm'));
    assert.match((await run('show', 'fired')).stdout, new RegExp(`^job +report \\(${id}\\)$`, 'm'));
    const [row] = await json<readonly { job: string; job_name: string }[]>('list');
    assert.deepEqual([row?.job, row?.job_name], [id, 'report']);
  });

  const filters: readonly [readonly string[], string][] = [
    [['--state', 'dead'], 'dead2 dead1'],
    [['--route', 'other'], 'done1'],
    [['--since', '90min'], 'pending1 dead2'],
    [['--since', '2026-01-10T09:30Z', '--state', 'dead', '--route', 'alerts'], 'dead2 dead1'],
    [['--limit', '1'], 'pending1'],
  ];
  for (const [argv, expected] of filters) {
    it(`accepts ${argv.join(' ')}`, async (t) => {
      const { json, path } = setUp(t);
      await fill(path);
      assert.equal((await json<Listed[]>('list', ...argv)).map(({ id }) => id).join(' '), expected);
    });
  }

  const mistakes: readonly [readonly string[], RegExp][] = [
    [['--state', 'deaf'], /"deaf"\n.*\bdead\b/],
    [['--since', 'tuesday'], /"tuesday"/],
    [['--limit', '0'], /--limit/],
  ];
  for (const [argv, message] of mistakes) {
    it(`rejects ${argv.join(' ')} as wrong usage`, async (t) => {
      const { code, stderr } = await setUp(t).run('list', ...argv);
      assert.equal(code, 2);
      assert.match(stderr, message);
    });
  }

  it('rejects an unreadable store and names the file', async (t) => {
    const { run, path } = setUp(t);
    mkdirSync(path);
    const { code, stderr } = await run('list');
    assert.equal(code, 1);
    assert.ok(stderr.includes(path), stderr);
  });
});

describe('deliveries show', () => {
  it('shows the stored facts of the latest run', async (t) => {
    const { json, path } = setUp(t);
    await fill(path);
    const { exit_code, signal, duration_ms, attempts, stderr } = await json<RunFacts>('show', 'dead2');
    assert.deepEqual([exit_code, signal, duration_ms, attempts], [3, null, 90_000, 2]);
    assert.equal(stderr, 'first line\nno quota left\n');
    const waiting = await json<RunFacts>('show', 'pending1');
    assert.deepEqual([waiting.exit_code, waiting.duration_ms, waiting.attempts, waiting.stderr], [null, null, 0, '']);
    const listed = await json<{ duration_ms: number | null }[]>('list');
    assert.deepEqual(
      listed.map(({ duration_ms }) => duration_ms),
      [null, 90_000, 2000, 0],
    );
  });

  it('prints one object with --json', async (t) => {
    const { json, path } = setUp(t);
    await fill(path);
    const shown = await json<{ id: string; answer: string; timeline: unknown[]; steps: unknown[] }>('show', 'dead1');
    assert.deepEqual(
      [shown.id, shown.answer, shown.timeline.length, shown.steps.length],
      ['dead1', 'an answer\u001b[31m', 6, 2],
    );
  });

  it('rejects an unknown id', async (t) => {
    const { code, stderr } = await setUp(t).run('show', 'unknown');
    assert.equal(code, 1);
    assert.match(stderr, /"unknown"/);
  });
});

describe('deliveries replay', () => {
  it('retries a failed delivery under its id with the stored answer', async (t) => {
    const { run, json, path } = setUp(t);
    await fill(path);
    const { code, stdout } = await run('replay', 'dead1');
    assert.deepEqual([code, stdout], [0, 'dead1\n']);
    const shown = await json<Listed & { answer: string }>('show', 'dead1');
    assert.deepEqual([shown.state, shown.replay_of, shown.answer], ['delivering', null, 'an answer\u001b[31m']);
  });

  it('says who has replayed a delivery, under its id and as a new run', async (t) => {
    const { run, json, path } = setUp(t);
    await fill(path);
    await run('replay', 'dead1', '--by', 'ann');
    const [{ id = '' } = {}] = await json<Listed[]>('replay', 'dead2', '--by', 'bob');
    const moments = async (of: string): Promise<readonly string[]> =>
      (await json<{ timeline: { what: string }[] }>('show', of)).timeline.map(({ what }) => what);
    assert.deepEqual(
      (await moments('dead1')).filter((what) => / by /.test(what)),
      ['replayed by cli:ann'],
    );
    assert.deepEqual((await moments(id)).slice(0, 1), ['replayed, by cli:bob']);
    assert.match((await run('show', 'dead1')).stdout, /replayed by cli:ann/);
  });

  it('replays all of a state, newest first, and runs failed runs again', async (t) => {
    const { json, path } = setUp(t);
    await fill(path);
    const done = await json<{ id: string; replay_of: string | null }[]>('replay', '--state', 'dead', '--since', '24h');
    const replayed = done.find(({ replay_of }) => replay_of !== null);
    assert.deepEqual(new Set(done.map(({ id }) => id)), new Set(['dead1', replayed?.id]));
    const listed = await json<Listed[]>('list', '--limit', '4');
    assert.deepEqual(
      listed.map(({ id, replay_of, state }) => [id, replay_of, state]),
      [
        [replayed?.id, 'dead2', 'pending'],
        ['pending1', null, 'pending'],
        ['dead2', null, 'dead'],
        ['dead1', null, 'delivering'],
      ],
    );
  });

  it('sends a direct delivery once, a done one only with --again, and an old one by its latest row', async (t) => {
    const { run, path } = setUp(t);
    const store = await openOfflineStore(path);
    const direct = { mode: 'direct', delivery_id: 'x' } as const;
    const work = { kind: 'held', holder: HOLDER } as const;
    for (const [id, claim, to] of [
      ['old1', null, 'dead'],
      ['old2', null, 'dead'],
      ['sent1', makeClaim('y'), 'done'],
    ] as const) {
      const dispatch = makeDispatch(id, { ...direct, delivery_id: claim?.delivery_id ?? 'x', accepted_at: NOW });
      const stored = await store.write(makeAccept(id, { dispatch, claim, claiming: 'later', work, now: NOW }));
      const ended = makeAdvance('ref' in stored ? stored.ref : 0, to, NOW, to === 'dead' ? { reason: 'down' } : {});
      await store.write(ended);
    }
    await store.close();
    const all = await run('replay', '--state', 'dead');
    assert.deepEqual([all.code, all.stdout], [1, 'old2\n']);
    assert.match(all.stderr, /old1.*old2/);
    const refused = await run('replay', 'sent1');
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /sent1.*--again/);
    assert.deepEqual((await run('replay', 'sent1', '--again')).stdout, 'sent1\n');
    assert.equal((await run('replay', 'sent1', '--again', '--rerun')).code, 2);
  });

  it('replays one run of a job at a time, and none while the job runs', async (t) => {
    const { path, run, json } = setUp(t);
    const before = await openOfflineStore(path);
    for (const id of ['first', 'second']) {
      assert.equal((await before.write(makeFire('report', id, { now: NOW - HOUR }))).kind, 'stored');
      const [taken] = (await before.write(makeTake(NOW - HOUR))).runs;
      await before.write(makeAdvance(taken?.ref ?? 0, 'dead', NOW - HOUR, { reason: 'exit 1' }));
    }
    // A paused job is replayed: that is a run by hand.
    await before.write({ kind: 'pause_job', job: 'report', paused: true, now: NOW });
    await before.close();

    const both = await run('replay', '--state', 'dead', '--json');
    assert.equal(both.code, 1);
    const [replayed, ...others] = JSON.parse(both.stdout) as { id: string; replay_of: string }[];
    assert.deepEqual([replayed?.replay_of, others], ['second', []]);
    assert.match(both.stderr, /\bfirst\b/);

    const store = await openOfflineStore(path);
    const fired = await store.write(makeFire('report', 'third', { even_paused: true, now: NOW }));
    assert.equal(fired.kind, 'running');
    const { runs } = await store.write(makeTake(NOW));
    assert.equal(runs.length, 1);
    await store.close();
    assert.equal((await run('replay', 'first')).code, 1);

    const after = await openOfflineStore(path);
    await after.write(makeAdvance(runs[0]?.ref ?? 0, 'dead', NOW, { reason: 'exit 1' }));
    await after.close();
    assert.deepEqual(
      (await json<Listed[]>('replay', 'first')).map(({ replay_of }) => replay_of),
      ['first'],
    );
  });

  it('runs again with --rerun and changes nothing with --dry-run', async (t) => {
    const { run, json, path } = setUp(t);
    await fill(path);
    assert.equal((await run('replay', '--state', 'dead', '--dry-run')).stdout, 'dead2\ndead1\n');
    assert.equal((await json<Listed[]>('list')).length, 4);
    const [again] = await json<{ id: string }[]>('replay', 'dead1', '--rerun');
    assert.equal((await json<Listed>('show', again?.id ?? '')).state, 'pending');
  });

  it('replays nothing if one of the ids is invalid', async (t) => {
    const { run, json, path } = setUp(t);
    await fill(path);
    for (const id of ['pending1', 'unknown']) {
      const { code, stderr } = await run('replay', 'dead1', id);
      assert.deepEqual([code, stderr.includes(id)], [1, true]);
    }
    assert.equal((await json<Listed[]>('list')).length, 4);
  });

  it('needs either ids or a state', async (t) => {
    const { run } = setUp(t);
    assert.equal((await run('replay')).code, 2);
    assert.equal((await run('replay', 'a', '--state', 'dead')).code, 2);
  });

  it('shows a progress bar on a terminal', async (t) => {
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
    assert.match(bar, /250\/250/);
    const reader = await openOfflineStore(join(home, 'state.db'));
    assert.equal((await reader.read({ kind: 'overview', now: NOW })).backlog.runs, 250);
    assert.deepEqual(await reader.read({ kind: 'audit' }), []);
    await reader.close();
  });
});

describe('parseSince', () => {
  it('parses spans and instants', () => {
    const now = Date.UTC(2026, 0, 10);
    assert.deepEqual(
      ['90s', '1.5h', '7d', '2026-01-05', '2026-01-05T08:00Z'].map((text) => parseSince(text, now)),
      [now - 90_000, now - 5_400_000, now - 604_800_000, Date.UTC(2026, 0, 5), Date.UTC(2026, 0, 5, 8)],
    );
  });
});
