import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { tryLock } from '../../../runtime/store/sqlite/file-lock.ts';
import { openOfflineStore } from '../../../runtime/store/sqlite/open-store.ts';
import type { CliResult } from '../../helpers/cli.ts';
import { runInProcess } from '../../helpers/cli.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
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
  /** The output of a command that goes well; it may warn, and note that no gateway runs. */
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
    assert.equal(stderr.replace(/^(?:warning|no gateway is running): .*\n/gm, ''), '');
    assert.equal(code, 0);
    return stdout;
  };
  const json = async (...args: readonly string[]) => JSON.parse(await fine(...args, '--json'));
  return { home, run, fine, json, list: async () => JSON.parse(await fine('job', 'list', '--json')) };
}

const TEA = ['job', 'create', 'tea', '--schedule', '0 16 * * *', '--prompt', 'Tea!', '--timezone', 'Europe/London'];

test('a job is made, listed, shown and removed, by name and by id', async (t) => {
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
    const shown = await fine('job', 'show', reference);
    assert.match(shown, /^tea \([a-z2-9]{6}\) is active\n {2}At four\n/);
    assert.match(shown, /daily at 16:00 \(0 16 \* \* \*\) in Europe\/London/);
    assert.match(shown, /Next runs:\n {2}Thu 2026-01-01 16:00 UTC\n {2}Fri 2026-01-02 16:00 UTC\n/);
  }
  assert.match(await fine('job', 'remove', String(made.id)), /^job tea \([a-z2-9]{6}\) removed\n$/);
  assert.deepEqual(await list(), []);
});

test('jobs of the config stand in the list too, in the zone of the config', async (t) => {
  const { home, list, fine } = openHome(t, CONFIG);
  assert.deepEqual(
    (await list()).map(({ id, kind, state, timezone, next_run }) => [id, kind, state, timezone, next_run]),
    [
      ['report', 'static', 'active', 'Europe/Berlin', '2026-01-02T07:00:00.000Z'],
      ['sleeping', 'static', 'paused', 'Europe/Berlin', null],
    ],
  );
  assert.match(await fine('job', 'show', 'report'), /kept in {4}the config/);
  assert.equal(existsSync(join(home, 'state.db')), false, 'looking makes no store');
});

test('a job of the config can be paused and resumed, and is changed where it is written', async (t) => {
  const { run, fine, list } = openHome(t, CONFIG);
  await fine('job', 'pause', 'report');
  await fine('job', 'resume', 'sleeping');
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
    assert.match(stderr, /"report" is a job of the config\n.*config\.yaml:3/);
  }
});

test('a job is paused for a time, and says until when', async (t) => {
  const { run, fine, list } = openHome(t, CONFIG);
  const until = '2026-01-02T14:00:00.000Z';
  assert.equal(await fine('job', 'pause', 'report', '--for', '26h'), `job report (report) paused until ${until}\n`);
  const [report] = await list();
  assert.deepEqual([report?.state, report?.paused_until], ['paused', until]);
  assert.equal(report?.next_run, '2026-01-05T07:00:00.000Z', 'the first instant after the pause');
  assert.match(await fine('job', 'show', 'report'), new RegExp(`is paused until ${until}`));
  assert.match(await fine('job', 'list'), /paused until 2026-01-02/);
  const wrong = await run('job', 'pause', 'report', '--for', 'ever');
  assert.deepEqual([wrong.code, wrong.stderr.includes('--for takes a time such as')], [2, true]);
});

test('edit changes what its flags say and keeps the rest', async (t) => {
  const { json, fine, run, list } = openHome(t);
  const made = await json(...TEA, '--deliver', 'messenger_a', '--deliver-chat-id', '-100200', '--toolsets', 'web');
  const edited = await json('job', 'edit', 'tea', '--schedule', '30 9 * * 1-5', '--name', 'coffee');
  assert.deepEqual(
    { ...edited, schedule: '', name: '', next_run: '' },
    { ...made, schedule: '', name: '', next_run: '' },
  );
  assert.deepEqual([edited.name, edited.schedule], ['coffee', '30 9 * * 1-5']);
  await fine(...TEA);
  assert.match((await run('job', 'edit', 'coffee', '--name', 'tea')).stderr, /there is a job "tea" already/);
  assert.match(
    (await run('job', 'edit', 'coffee', '--schedule', 'never')).stderr,
    /refused.*\n.*schedule: five fields/,
  );
  assert.equal((await run('job', 'edit', 'coffee')).code, 2);
  assert.equal((await list()).find(({ name }) => name === 'coffee')?.schedule, '30 9 * * 1-5');
});

const REFUSED: readonly (readonly [string, readonly string[], number, RegExp])[] = [
  ['a schedule that is none', ['--schedule', 'daily', '--prompt', 'x'], 1, /five fields are needed/],
  ['no schedule', ['--prompt', 'x'], 2, /--schedule is needed/],
  ['no prompt', ['--schedule', '0 8 * * *'], 2, /--prompt is needed/],
  [
    'a target that does not exist',
    ['--deliver', 'telegramm'],
    1,
    /no delivery target `telegramm`; did you mean `telegram`/,
  ],
  ['a zone that does not exist', ['--timezone', 'Europe/Berln'], 2, /no time zone; did you mean `Europe\/Berlin`/],
  ['a profile that does not exist', ['--profile', 'work'], 1, /there is no profile "work"/],
  ['a rule for missed runs that does not exist', ['--misfire', 'twice'], 2, /--misfire takes skip, once/],
];

for (const [what, flags, exit, message] of REFUSED) {
  test(`create refuses ${what}, and stores nothing`, async (t) => {
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

test('create refuses a name in use, in the config and in the store, and a name that is none', async (t) => {
  const { run, fine } = openHome(t, CONFIG);
  await fine(...TEA);
  for (const name of ['report', 'tea']) {
    const { code, stderr } = await run('job', 'create', name, '--schedule', '0 8 * * *', '--prompt', 'x');
    assert.equal(code, 1);
    assert.match(stderr, /there is a job "\w+" already/);
  }
  assert.equal((await run('job', 'create', 'My Job', '--schedule', '0 8 * * *', '--prompt', 'x')).code, 2);
});

test('create warns of what is hardly meant, and makes the job', async (t) => {
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
  assert.match(stderr, /warning: deliver: the target `sms` is not enabled/);
  assert.match(stderr, /warning: schedule: no date matches `30 2 30 2 \*`: it never fires/);
});

test('an unknown job is named with the closest one', async (t) => {
  const { run, fine } = openHome(t, CONFIG);
  await fine(...TEA);
  for (const verb of ['show', 'pause', 'resume', 'remove', 'run', 'edit']) {
    const { code, stderr } = await run('job', verb, 'reprot', ...(verb === 'edit' ? ['--prompt', 'x'] : []));
    assert.equal(code, 1);
    assert.match(stderr, /there is no job "reprot"\n.*did you mean report\?/, verb);
  }
});

test('run stores one run, and no second while it waits', async (t) => {
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
  assert.match(again.stderr, /"report" is running already/);
});

test('show tells what was missed and what was left out', async (t) => {
  const { home, fine, json } = openHome(t, CONFIG);
  const store = await openOfflineStore(join(home, 'state.db'));
  const hour = 3_600_000;
  await store.write(makeTick('report', NOW - 5 * hour, { dispatch: null, missed: 3 }));
  await store.write(makeTick('report', NOW - 4 * hour));
  await store.write(makeTick('report', NOW - 3 * hour));
  await store.close();
  const shown = await fine('job', 'show', 'report');
  assert.match(shown, /Not run \(3 missed\):\n/);
  assert.match(shown, /Thu 2026-01-01 10:00 UTC\+1 {2}the run before was still under way\n/);
  assert.match(shown, /Thu 2026-01-01 08:00 UTC\+1 {2}up to it 3 missed: no gateway was running\n/);
  assert.equal((await json('job', 'show', 'report')).missed, 3);
});

test('a blueprint, a command and a link make jobs, each with a name of its own', async (t) => {
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

test('a blueprint that cannot be filled or delivered makes nothing', async (t) => {
  const { run, list, home } = openHome(t);
  for (const [words, message] of [
    [['morning-brief', 'time=6:30', 'deliver=local'], /`time` cannot be `6:30`/],
    [['morning-brief', 'deliver=local'], /`time` is missing/],
    [['morning-brief', 'time=06:30', 'deliver=nowhere'], /no delivery target `nowhere`/],
    [['/blueprint morning-brief time="06:30'], /never closed/],
  ] as const) {
    const { code, stderr } = await run('blueprint', 'create', ...words);
    assert.equal(code, 1);
    assert.match(stderr, message);
  }
  assert.deepEqual(await list(), []);
  assert.equal((await run('blueprint', 'create', 'morning-brief', 'time=06:30', 'deliver=origin')).code, 0);
  assert.equal(existsSync(join(home, 'state.db')), true);
});

test('a platform is taken by the name users know', async (t) => {
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
  assert.match(stdout, /unknown-job: there is no job `tee`; did you mean `tea`\?/);
});

test('commands that only read jobs do not wait for whoever has the store', async (t) => {
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
  const { stdout } = await runInProcess(['lint'], { home });
  assert.match(stdout, /there is no job `coffee`/);
  assert.doesNotMatch(stdout, /there is no job `tea`/);
});
