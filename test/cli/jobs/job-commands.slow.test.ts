import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { tryLock } from '../../../runtime/store/sqlite/file-lock.ts';
import { openOfflineStore } from '../../../runtime/store/sqlite/open-store.ts';
import type { CliResult } from '../../helpers/cli.ts';
import { runInProcess } from '../../helpers/cli.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { expectGolden, screensOf } from '../../helpers/golden.ts';
import { makeTick } from '../../helpers/jobs.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

/** A Thursday. */
const NOW = Date.parse('2026-01-01T12:00:00Z');

const CONFIG = `gateway: { timezone: Europe/Berlin }
jobs:
  report:
    description: What happened
    schedule: "0 8 * * 1-5"
    prompt: Write the report.
    deliver: local
  sleeping: { schedule: "0 3 * * *", prompt: Sleep., paused: true }
`;

interface Home {
  readonly home: string;
  run(...args: readonly string[]): Promise<CliResult>;
  /** The output of a successful command, which may note that no gateway is running. */
  fine(...args: readonly string[]): Promise<string>;
  json(...args: readonly string[]): Promise<Record<string, unknown>>;
  list(): Promise<readonly Record<string, unknown>[]>;
}

function openHome(t: TestContext, config?: string): Home {
  const home = tempDir(t);
  if (config !== undefined) writeFileSync(join(home, 'config.yaml'), config);
  const run = (...args: readonly string[]): Promise<CliResult> =>
    runInProcess(args, { home, context: { clock: new FakeClock(NOW) } });
  const fine = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(...args);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const json = async (...args: readonly string[]) => JSON.parse(await fine(...args, '--json'));
  return { home, run, fine, json, list: async () => JSON.parse(await fine('job', 'list', '--json')) };
}

const TEA = ['job', 'create', 'tea', '--schedule', '0 16 * * *', '--prompt', 'Tea!', '--timezone', 'Europe/London'];

test('a job is created, listed, shown and removed, by name and by id', async (t) => {
  const { fine, json, list } = openHome(t);
  const made = await json(...TEA, '--deliver', 'local', '--skills', 'brewing, pouring', '--description', 'At four');
  assert.match(String(made.id), /^[a-z2-9]{6}$/);
  assert.deepEqual(
    [made.name, made.schedule, made.timezone, made.deliver, made.skills, made.next_run],
    ['tea', '0 16 * * *', 'Europe/London', ['local'], ['brewing', 'pouring'], '2026-01-01T16:00:00.000Z'],
  );
  const [listed] = await list();
  assert.deepEqual(
    [listed?.id, listed?.state, listed?.next_run, listed?.last_run],
    [made.id, 'active', '2026-01-01T16:00:00.000Z', null],
  );
  for (const reference of ['tea', String(made.id)]) {
    const shown = await json('job', 'show', reference);
    assert.deepEqual([shown.id, shown.description, shown.prompt], [made.id, 'At four', 'Tea!']);
    assert.deepEqual((shown.next_runs as string[]).slice(0, 2), [
      '2026-01-01T16:00:00.000Z',
      '2026-01-02T16:00:00.000Z',
    ]);
  }
  await fine('job', 'remove', String(made.id));
  assert.deepEqual(await list(), []);
});

test('the commands print their screens', async (t) => {
  const { home } = openHome(t, CONFIG);
  const context = { clock: new FakeClock(NOW), random: (size: number) => Buffer.alloc(size, 7) };
  const store = await openOfflineStore(join(home, 'state.db'));
  const hour = 3_600_000;
  await store.write(makeTick('report', NOW - 5 * hour, { dispatch: null, missed: 3 }));
  await store.write(makeTick('report', NOW - 4 * hour));
  await store.write(makeTick('report', NOW - 3 * hour));
  await store.close();
  const screens = await screensOf(
    (...argv) => runInProcess(argv, { home, context }),
    TEA,
    ['job', 'edit', 'tea', '--deliver', 'local', '--skills', 'brewing, pouring', '--description', 'At four'],
    ['job', 'show', 'tea'],
    ['job', 'show', 'report'],
    ['job', 'pause', 'report', '--for', '26h'],
    ['job', 'list'],
    ['job', 'run', 'tea'],
    ['job', 'run', 'tea'],
    ['job', 'resume', 'report'],
    ['job', 'remove', 'report'],
    ['job', 'remove', 'tea'],
    ['job', 'show', 'reprot'],
  );
  expectGolden('cli/jobs/screens.txt', screens);
});

test('jobs of the config are listed too, in the time zone of the config', async (t) => {
  const { home, list } = openHome(t, CONFIG);
  assert.deepEqual(
    (await list()).map(({ id, kind, state, timezone, next_run }) => [id, kind, state, timezone, next_run]),
    [
      ['report', 'static', 'active', 'Europe/Berlin', '2026-01-02T07:00:00.000Z'],
      ['sleeping', 'static', 'paused', 'Europe/Berlin', null],
    ],
  );
  assert.equal(existsSync(join(home, 'state.db')), false, 'looking makes no store');
});

test('a job of the config can be paused and resumed, but is only changed in the config', async (t) => {
  const { run, fine, list } = openHome(t, CONFIG);
  await fine('job', 'pause', 'report', '--by', 'ann');
  await fine('job', 'resume', 'sleeping', '--by', 'bo');
  assert.doesNotMatch(await fine('job', 'resume', 'sleeping', '--by', 'cy'), /resumed/);
  assert.match(await fine('job', 'show', 'report'), /paused by cli:ann at/);
  assert.match(await fine('job', 'show', 'sleeping'), /resumed by cli:bo at/);
  assert.deepEqual(
    (await list()).map(({ name, state }) => [name, state]),
    [
      ['report', 'paused'],
      ['sleeping', 'active'],
    ],
  );
  for (const args of [['remove'], ['edit', '--schedule', '0 9 * * *']]) {
    const [verb = '', ...flags] = args;
    const { code, stderr } = await run('job', verb, 'report', ...flags);
    assert.equal(code, 1);
    assert.match(stderr, /"report".*\n.*config\.yaml:3/);
  }
});

test('a job is paused for a time and shows the end', async (t) => {
  const { run, fine, list } = openHome(t, CONFIG);
  const until = '2026-01-02T14:00:00.000Z';
  const paused = await fine('job', 'pause', 'report', '--for', '26h');
  const [report] = await list();
  assert.deepEqual([report?.state, report?.paused_until], ['paused', until]);
  assert.equal(report?.next_run, '2026-01-05T07:00:00.000Z', 'the first instant after the pause');
  for (const screen of [paused, await fine('job', 'show', 'report'), await fine('job', 'list')])
    assert.ok(screen.includes(until), screen);
  const wrong = await run('job', 'pause', 'report', '--for', 'ever');
  assert.deepEqual([wrong.code, wrong.stderr.includes('--for')], [2, true]);
});

test('edit changes only the given options', async (t) => {
  const { json, fine, run, list } = openHome(t);
  const made = await json(...TEA, '--deliver', 'messenger_a', '--deliver-chat-id', '-100200', '--toolsets', 'web');
  const edited = await json('job', 'edit', 'tea', '--schedule', '30 9 * * 1-5', '--name', 'coffee');
  assert.deepEqual(
    { ...edited, schedule: '', name: '', next_run: '' },
    { ...made, schedule: '', name: '', next_run: '' },
  );
  assert.deepEqual([edited.name, edited.schedule], ['coffee', '30 9 * * 1-5']);
  await fine(...TEA);
  for (const flags of [
    ['--name', 'tea'],
    ['--schedule', 'never'],
  ])
    assert.equal((await run('job', 'edit', 'coffee', ...flags)).code, 1, flags.join(' '));
  assert.equal((await run('job', 'edit', 'coffee')).code, 2);
  assert.equal((await list()).find(({ name }) => name === 'coffee')?.schedule, '30 9 * * 1-5');
});

test('a subscription that names a job still fires it after the job is renamed, and a route of the config is named', async (t) => {
  const { home, run, json } = openHome(t);
  const { id } = await json(...TEA);
  const route =
    'platforms: { webhook: { enabled: true, secret: a-literal-secret-for-tests, routes: { kettle: { cron_job: tea } } } }';
  writeFileSync(join(home, 'config.yaml'), route);
  const path = join(home, 'webhook_subscriptions.json');
  const before = { mine: { cron_job: 'tea', prompt: '{n}' }, other: { cron_job: 'tea', profile: 'work' }, bad: 7 };
  writeFileSync(path, JSON.stringify(before), { mode: 0o600 });
  const { code, stderr } = await run('job', 'edit', 'tea', '--name', 'coffee');
  assert.equal(code, 0, stderr);
  assert.match(stderr, new RegExp(`kettle.*cron_job.*${id}`));
  const after = JSON.parse(readFileSync(path, 'utf8'));
  assert.deepEqual(after, { ...before, mine: { ...before.mine, cron_job: id } });
});

const REFUSED: readonly (readonly [string, readonly string[], number, RegExp])[] = [
  ['a schedule that is none', ['--schedule', 'daily', '--prompt', 'x'], 1, /schedule/],
  ['no schedule', ['--prompt', 'x'], 2, /--schedule/],
  ['no prompt', ['--schedule', '0 8 * * *'], 2, /--prompt/],
  ['a target that does not exist', ['--deliver', 'telegramm'], 1, /`telegramm`.*`telegram`/],
  ['a zone that does not exist', ['--timezone', 'Europe/Berln'], 2, /`Europe\/Berlin`/],
  ['a profile that does not exist', ['--profile', 'work'], 1, /"work"/],
  ['a rule for missed runs that does not exist', ['--misfire', 'twice'], 2, /--misfire.*skip, once/],
];

for (const [what, flags, exit, message] of REFUSED) {
  test(`create rejects ${what} and stores nothing`, async (t) => {
    const { run, list } = openHome(t);
    const given = ['--schedule', '0 8 * * *', '--prompt', 'x'].filter(
      () => !flags.includes('--prompt') && !flags.includes('--schedule'),
    );
    const { code, stderr } = await run('job', 'create', 'new', ...given, ...flags);
    assert.equal(code, exit, stderr);
    assert.match(stderr, message);
    assert.deepEqual(await list(), []);
  });
}

test('create rejects an invalid name, and a name in use in the config or the store', async (t) => {
  const { run, fine } = openHome(t, CONFIG);
  await fine(...TEA);
  for (const name of ['report', 'tea']) {
    const { code, stderr } = await run('job', 'create', name, '--schedule', '0 8 * * *', '--prompt', 'x');
    assert.equal(code, 1);
    assert.ok(stderr.includes(`"${name}"`), stderr);
  }
  assert.equal((await run('job', 'create', 'My Job', '--schedule', '0 8 * * *', '--prompt', 'x')).code, 2);
});

test('create warns of probable mistakes and creates the job', async (t) => {
  const { run } = openHome(t);
  const { code, stderr } = await run(
    'job',
    'create',
    'odd',
    '--schedule',
    '30 2 30 2 *',
    '--prompt',
    'x',
    '--deliver',
    'sms',
  );
  assert.equal(code, 0);
  assert.match(stderr, /deliver: .*`sms`/);
  assert.match(stderr, /schedule: .*`30 2 30 2 \*`/);
});

test('an unknown job is reported with the closest name', async (t) => {
  const { run, fine } = openHome(t, CONFIG);
  await fine(...TEA);
  for (const verb of ['show', 'pause', 'resume', 'remove', 'run', 'edit']) {
    const { code, stderr } = await run('job', verb, 'reprot', ...(verb === 'edit' ? ['--prompt', 'x'] : []));
    assert.equal(code, 1);
    assert.match(stderr, /"reprot"\n.*\breport\b/, verb);
  }
});

test('run stores one run and rejects a second while it is pending', async (t) => {
  const { run, json, fine, list } = openHome(t, CONFIG);
  await fine('job', 'pause', 'report');
  const { dispatch } = await json('job', 'run', 'report');
  const shown = JSON.parse(await fine('deliveries', 'show', String(dispatch), '--json'));
  assert.deepEqual(
    [shown.dispatch?.prompt ?? shown.prompt, shown.job, shown.event],
    ['Write the report.', 'report', 'manual'],
  );
  assert.equal((await list()).find(({ id }) => id === 'report')?.state, 'queued');
  const again = await run('job', 'run', 'report');
  assert.equal(again.code, 1);
});

test('show lists missed and skipped runs', async (t) => {
  const { home, json } = openHome(t, CONFIG);
  const store = await openOfflineStore(join(home, 'state.db'));
  const hour = 3_600_000;
  await store.write(makeTick('report', NOW - 5 * hour, { dispatch: null, missed: 3 }));
  await store.write(makeTick('report', NOW - 4 * hour));
  await store.write(makeTick('report', NOW - 3 * hour));
  await store.close();
  const { missed, ticks } = await json('job', 'show', 'report');
  assert.equal(missed, 3);
  assert.deepEqual(
    (ticks as { due_at: number; outcome: string }[]).map(({ due_at, outcome }) => [due_at, outcome]),
    [
      [NOW - 3 * hour, 'overlapped'],
      [NOW - 5 * hour, 'missed'],
    ],
  );
});

test('a blueprint, a command and a link create jobs with different names', async (t) => {
  const { json, list } = openHome(t);
  const values = ['time=06:30', 'deliver=local'];
  const made = [
    await json('blueprint', 'create', 'morning-brief', ...values),
    await json('blueprint', 'create', `/blueprint morning-brief ${values.join(' ')}`),
    await json('blueprint', 'create', 'hookwright://blueprint/morning-brief?time=06%3A30&deliver=local'),
  ];
  assert.deepEqual(
    made.map(({ name, schedule, blueprint }) => [name, schedule, (blueprint as { key: string }).key]),
    ['', '-2', '-3'].map((suffix) => [`morning-brief${suffix}`, '30 6 * * *', 'morning-brief']),
  );
  assert.equal((await list()).length, 3);
});

test('a blueprint that cannot be filled or delivered creates nothing', async (t) => {
  const { run, list, home } = openHome(t);
  for (const [words, named] of [
    [['morning-brief', 'time=6:30', 'deliver=local'], '`6:30`'],
    [['morning-brief', 'deliver=local'], '`time`'],
    [['morning-brief', 'time=06:30', 'deliver=nowhere'], '`nowhere`'],
    [['/blueprint morning-brief time="06:30'], ''],
  ] as const) {
    const { code, stderr } = await run('blueprint', 'create', ...words);
    assert.equal(code, 1);
    assert.ok(stderr.includes(named), stderr);
  }
  assert.deepEqual(await list(), []);
  assert.equal((await run('blueprint', 'create', 'morning-brief', 'time=06:30', 'deliver=origin')).code, 0);
  assert.equal(existsSync(join(home, 'state.db')), true);
});

test('a platform is accepted by its display name', async (t) => {
  const { json } = openHome(t, 'platforms: { messenger_a: { enabled: true, token: "1:a", home_channel: "7" } }\n');
  assert.deepEqual((await json('blueprint', 'create', 'morning-brief', 'time=06:30', 'deliver=telegram')).deliver, [
    'telegram',
  ]);
  assert.deepEqual((await json('blueprint', 'create', 'morning-brief', 'time=06:30', 'deliver=origin')).deliver, [
    'origin',
  ]);
});

test('a route may name a job of the store, by name or id', async (t) => {
  const { home, json, run } = openHome(t);
  const { id } = await json(...TEA);
  const route = (job: string): string => `platforms:
  webhook:
    enabled: true
    secret: a-literal-secret-for-tests
    routes:
      deploys: { cron_job: ${job} }
`;
  for (const job of ['tea', String(id)]) {
    writeFileSync(join(home, 'config.yaml'), route(job), { mode: 0o600 });
    const { code, stderr } = await run('compile');
    assert.equal(code, 0, stderr);
  }
  writeFileSync(join(home, 'config.yaml'), route('tee'), { mode: 0o600 });
  const { code, stdout } = await run('lint');
  assert.equal(code, 1);
  assert.match(stdout, /unknown-job: .*`tee`.*`tea`/);
});

test('commands that only read jobs do not wait for the process that holds the store', async (t) => {
  const { home, fine } = openHome(t);
  await fine(...TEA);
  const lock = tryLock(join(home, 'state.db.lock'));
  t.after(() => lock?.release());
  assert.notEqual(lock, null);
  const routes = 'made: { cron_job: tea, prompt: Tea! }, none: { cron_job: coffee, prompt: Coffee! }';
  const secret = 'a-secret-of-more-than-thirty-two-letters';
  writeFileSync(
    join(home, 'config.yaml'),
    `platforms: { webhook: { enabled: true, secret: ${secret}, routes: { ${routes} } } }\n`,
  );
  const { stdout } = await runInProcess(['lint', '--format', 'json'], { home });
  const found = (JSON.parse(stdout) as { rule: string; message: string }[]).filter(
    ({ rule }) => rule === 'unknown-job',
  );
  assert.deepEqual([found.length, found[0]?.message.includes('`coffee`')], [1, true]);
});
