import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import type { Catalog } from '../../../schemas/generated/types.ts';
import type { CliResult } from '../../helpers/cli.ts';
import { runInProcess } from '../../helpers/cli.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { schemaValidator } from '../../helpers/schema-validator.ts';
import { shippedBlueprint } from '../../helpers/shipped-blueprints.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

/** A Thursday. */
const NOW = Date.parse('2026-01-01T12:00:00Z');

function run(t: TestContext, args: readonly string[], home = tempDir(t)): Promise<CliResult> {
  return runInProcess(args, { home, context: { clock: new FakeClock(NOW) } });
}

async function runFine(t: TestContext, args: readonly string[], home?: string): Promise<string> {
  const { code, stdout, stderr } = await run(t, args, home);
  assert.equal(stderr, '');
  assert.equal(code, 0);
  return stdout;
}

test('catalog publish prints the array, and --out writes the same bytes', async (t) => {
  const home = tempDir(t);
  const printed = await runFine(t, ['catalog', 'publish'], home);
  const catalog = JSON.parse(printed) as Catalog;
  assert.deepEqual(schemaValidator('catalog')(catalog), []);
  assert.equal(catalog.length, 14);
  const { code, stdout } = await run(t, ['catalog', 'publish', '--out', 'out/catalog.json'], home);
  assert.deepEqual([code, stdout], [0, '']);
  assert.equal(readFileSync(join(home, 'out/catalog.json'), 'utf8'), printed);
});

test('the scheme of links comes from the option, or else from the config', async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, 'config.yaml'), 'app_scheme: acme\n');
  assert.match(await runFine(t, ['blueprint', 'link', 'morning-brief'], home), /^acme:\/\/blueprint\/morning-brief\?/);
  const args = ['blueprint', 'link', 'morning-brief', '--app-scheme', 'other'];
  assert.match(await runFine(t, args, home), /^other:/);
  assert.equal((await run(t, [...args.slice(0, -1), 'No Scheme'], home)).code, 2);
});

test('a config that cannot be read is an error', async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, 'config.yaml'), 'app_scheme: [\n');
  const { code, stderr } = await run(t, ['catalog', 'publish'], home);
  assert.equal(code, 1);
  assert.match(stderr, /config\.yaml:\d+:\d+: error yaml-syntax/);
});

test("the user's own blueprints are in the catalog, and an invalid one is rejected with its position", async (t) => {
  const home = tempDir(t);
  const folder = join(home, 'catalog/blueprints');
  mkdirSync(folder, { recursive: true });
  const file = readFileSync(new URL('../../../catalog/blueprints/morning-brief.yaml', import.meta.url), 'utf8');
  writeFileSync(join(folder, 'brief.yaml'), file.replace('key: morning-brief', 'key: my-brief'));
  const listed = JSON.parse(await runFine(t, ['blueprint', 'list', '--json'], home)) as Catalog;
  assert.equal(listed.length, 15);
  assert.ok(listed.some(({ key }) => key === 'my-brief'));
  writeFileSync(join(folder, 'brief.yaml'), file.replace('"08:00"', 'eight'));
  const { code, stderr } = await run(t, ['blueprint', 'list'], home);
  assert.equal(code, 1);
  assert.match(stderr, /catalog\/blueprints\/brief\.yaml:10:14: error blueprint-default/);
});

test('list filters by category and tag', async (t) => {
  const weekly = await runFine(t, ['blueprint', 'list', '--category', 'weekly']);
  assert.deepEqual(
    weekly.split('\n').map((line) => line.split(' ')[0]),
    ['KEY', 'meal-plan', 'weekly-review', ''],
  );
  assert.match(await runFine(t, ['blueprint', 'list', '--category', 'finance']), /bill-renewal-watch/);
});

test("show prints the next five runs in the job's time zone", async (t) => {
  const args = ['blueprint', 'show', 'weekly-review', 'day=friday', '--timezone', 'America/New_York'];
  const shown = await runFine(t, args);
  assert.match(shown, /\b18:00\b.*\b0 18 \* \* 5\b.*America\/New_York/);
  assert.deepEqual(shown.trimEnd().split('\n').slice(-5), [
    '  Fri 2026-01-02 18:00 UTC-5',
    '  Fri 2026-01-09 18:00 UTC-5',
    '  Fri 2026-01-16 18:00 UTC-5',
    '  Fri 2026-01-23 18:00 UTC-5',
    '  Fri 2026-01-30 18:00 UTC-5',
  ]);
  const json = JSON.parse(await runFine(t, [...args, '--json'])) as Record<string, unknown>;
  assert.equal((json.next_runs as string[])[0], '2026-01-02T23:00:00.000Z');
  assert.equal(json.cron, '0 18 * * 5');
});

test('new jobs use the time zone of the config', async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, 'config.yaml'), 'gateway: { timezone: Asia/Kolkata }\n');
  assert.match(await runFine(t, ['blueprint', 'show', 'morning-brief'], home), /Fri 2026-01-02 08:00 UTC\+5:30/);
  const { code, stderr } = await run(t, ['blueprint', 'show', 'morning-brief', '--timezone', 'Europe/Berln'], home);
  assert.equal(code, 2);
  assert.match(stderr, /`Europe\/Berlin`/);
});

test('fill prints the job as config, or as JSON', async (t) => {
  const values = ['topic=blue whales: news', 'time=07:05', 'recurrence=weekends', 'count=3', 'deliver=local'];
  const section = await runFine(t, ['blueprint', 'fill', 'news-digest', ...values, '--timezone', 'Europe/Berlin']);
  assert.match(section, /^jobs:\n {2}news-digest:\n/);
  assert.match(section, /schedule: 5 7 \* \* 0,6\n/);
  const json = JSON.parse(await runFine(t, ['blueprint', 'fill', 'news-digest', ...values, '--json']));
  assert.equal(json.schedule, '5 7 * * 0,6');
  assert.equal(json.deliver, 'local');
  assert.match(json.prompt, /blue whales: news\n/);
});

test('fill accepts a command, a link, or an unquoted command', async (t) => {
  const wanted = await runFine(t, ['blueprint', 'fill', 'morning-brief', 'time=06:30', 'deliver=local']);
  for (const words of [
    ['/blueprint morning-brief time=06:30 deliver=local'],
    ['hookwright://blueprint/morning-brief?time=06%3A30&deliver=local'],
    ['/blueprint', 'morning-brief', 'time=06:30', 'deliver=local'],
  ]) {
    assert.equal(await runFine(t, ['blueprint', 'fill', ...words]), wanted);
  }
});

const REFUSED: readonly (readonly [string, readonly string[], number, RegExp])[] = [
  ['nothing', [], 2, /usage: hookwright blueprint fill <key>/],
  ['an unknown blueprint', ['mornin-brief'], 1, /"mornin-brief"\n.*\bmorning-brief\b/],
  ['a missing value', ['morning-brief', 'time=06:30'], 1, /`deliver`.*`origin`/],
  ['an unknown field', ['morning-brief', 'tme=06:30', '--defaults'], 1, /`tme`.*`time`.*`time`.*`deliver`/],
  ['a bad time', ['morning-brief', 'time=6:30', '--defaults'], 1, /`time`.*`6:30`/],
  ['a word without a value', ['morning-brief', 'tomorrow'], 2, /"tomorrow"/],
  ['a link of another application', ['https://blueprint/x?a=1'], 1, /`https`/],
];

for (const [what, words, exit, message] of REFUSED) {
  test(`fill rejects ${what}`, async (t) => {
    const { code, stdout, stderr } = await run(t, ['blueprint', 'fill', ...words]);
    assert.equal(code, exit);
    assert.equal(stdout, '');
    assert.match(stderr, message);
  });
}

test('command and link convert to each other and fill in defaults', async (t) => {
  const command = await runFine(t, ['blueprint', 'command', 'custom-reminder', 'what=call "home"\nnow', 'time=19:00']);
  assert.equal(
    command,
    '/blueprint custom-reminder what="call \\"home\\"\nnow" time=19:00 recurrence=everyday deliver=origin\n',
  );
  const link = await runFine(t, ['blueprint', 'link', command.trimEnd()]);
  assert.equal(
    link,
    'hookwright://blueprint/custom-reminder?what=call+%22home%22%0Anow&time=19%3A00&recurrence=everyday&deliver=origin\n',
  );
  assert.equal(await runFine(t, ['blueprint', 'command', link.trimEnd()]), command);
});

test('commands that only read do not create the home', async (t) => {
  const home = join(tempDir(t), 'none');
  await runInProcess(['blueprint', 'list'], { home, cwd: tempDir(t) });
  assert.equal(existsSync(home), false);
});

/** A fake terminal that sends keys and records the screen. */
class Terminal extends PassThrough {
  readonly isTTY = true;
  readonly columns = 100;
  readonly rows = 30;
  setRawMode(): this {
    return this;
  }
}

test('on a terminal, without values, it asks field by field and offers the defaults', async (t) => {
  const stdin = new Terminal();
  const stderr = new Terminal();
  let drawn = '';
  /** The last question does not belong to a field: it asks for the name of another platform. */
  const keys: readonly (readonly [field: string | null, pressed: string])[] = [
    ['what', ' now\r'],
    ['time', '\r'],
    ['recurrence', '\u001b[B\r'],
    ['deliver', '\u001b[A\r'],
    [null, 'matrix\r'],
  ];
  const { fields } = shippedBlueprint('custom-reminder');
  const isAsked = (name: string | null): boolean => {
    if (name !== null) return drawn.includes(fields.find((field) => field.name === name)?.label ?? name);
    return /[^)]\?/.test(drawn.replaceAll(fields.at(-1)?.label ?? '', ''));
  };
  let step = 0;
  stderr.on('data', (chunk: Buffer) => {
    drawn += chunk.toString();
    const next = keys[step];
    if (next === undefined || !isAsked(next[0])) return;
    step += 1;
    drawn = '';
    setImmediate(() => stdin.write(next[1]));
  });
  const context = { stdin, stderr, clock: new FakeClock(NOW) };
  const { code, stdout } = await runInProcess(['blueprint', 'fill', 'custom-reminder', '--json'], {
    home: tempDir(t),
    context,
  });
  assert.equal(code, 0);
  assert.deepEqual(JSON.parse(stdout).values, {
    what: 'take a break, stand up and stretch now',
    time: '14:00',
    recurrence: 'weekdays',
    deliver: 'matrix',
  });
});

test('cancelling a question creates nothing and fails', async (t) => {
  const stdin = new Terminal();
  const stderr = new Terminal();
  stderr.once('data', () => setImmediate(() => stdin.write('\u0003')));
  stderr.resume();
  const context = { stdin, stderr, clock: new FakeClock(NOW) };
  const { code, stdout } = await runInProcess(['blueprint', 'fill', 'morning-brief'], { home: tempDir(t), context });
  assert.deepEqual([code, stdout], [1, '']);
});
