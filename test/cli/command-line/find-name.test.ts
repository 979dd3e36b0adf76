import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CliError, findName } from '../../../cli/base/errors.ts';
import { runInProcess } from '../../helpers/cli.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const known = new Map([
  ['report', 1],
  ['report-weekly', 2],
  ['Report', 1],
  ['backup', 3],
]);
const find = (name: string): number => findName({ kind: 'job', name, known, listedBy: 'hookwright job list' });

test('an exact name wins over longer ones, and a unique prefix is enough', () => {
  assert.equal(find('report'), 1);
  assert.equal(find('report-'), 2);
  assert.equal(find('b'), 3);
  assert.equal(find('R'), 1);
});

test('several names of one item are not ambiguous', () => {
  const aliases = new Map([
    ['telegram', 'messenger_a'],
    ['tele', 'messenger_a'],
  ]);
  assert.equal(findName({ kind: 'target', name: 'te', known: aliases, listedBy: 'x' }), 'messenger_a');
});

test('an ambiguous prefix lists the candidates, an unknown name the closest one', () => {
  const hints = (words: RegExp) => (error: unknown) => error instanceof CliError && words.test(error.hints.join());
  assert.throws(() => find('rep'), hints(/report, report-weekly/));
  assert.throws(() => find('bakcup'), hints(/\bbackup\b/));
  assert.throws(() => find(''), CliError);
});

test('commands accept prefixes of blueprints, sources, jobs, routes and subscriptions', async (t) => {
  const home = tempDir(t);
  const config = `platforms:
  webhook:
    enabled: true
    secret: a-secret-for-these-tests
    routes: { review: { prompt: a }, revenue: { prompt: b } }
jobs:
  nightly: { schedule: "0 3 * * *", prompt: a, deliver: local }
  nightmare: { schedule: "0 4 * * *", prompt: a, deliver: local }
`;
  writeFileSync(join(home, 'config.yaml'), config);
  const run = (...argv: string[]) => runInProcess(argv, { home });
  const fine = async (...argv: string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(...argv);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  /** The name is rejected, and the candidates are listed. */
  const refused = async (names: string, ...argv: string[]): Promise<void> => {
    const { code, stderr } = await run(...argv);
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`\\n.* ${names}\\b`));
  };
  assert.match(await fine('job', 'show', 'nightl'), /nightly/);
  await refused('nightly, nightmare', 'job', 'show', 'nigh');
  assert.match(await fine('blueprint', 'show', 'morning'), /morning-brief/);
  assert.match(await fine('source', 'show', 'shop'), /Shopify/);
  await refused('mailgun', 'source', 'show', 'mailgn');
  await refused('revenue, review', 'explain', 're', '--event', 'x', '--payload', '{}');
  await fine('webhook', 'subscribe', 'alerts', '--prompt', 'x');
  await fine('webhook', 'subscribe', 'alarms', '--prompt', 'x');
  await refused('alarms, alerts', 'webhook', 'remove', 'al');
  assert.match(await fine('webhook', 'show', 'ale'), /^alerts: /);
  await fine('webhook', 'disable', 'ala');
  await fine('webhook', 'remove', 'ala');
  await refused('alerts', 'webhook', 'remove', 'alrets');
});

test('the prompt for a target offers the display names', async (t) => {
  const home = tempDir(t);
  const run = async (...argv: string[]): Promise<string> => (await runInProcess(argv, { home })).stdout;
  const shown = await run('blueprint', 'show', 'morning-brief');
  assert.match(shown, /telegram.*discord/);
  assert.doesNotMatch(shown, /messenger_a|community_chat/);
  assert.match(await run('catalog', 'publish'), /"telegram"/);
  const { stderr } = await runInProcess(['blueprint', 'fill', 'morning-brief', 'tme=08:00'], { home });
  assert.match(stderr, /`tme`.*`time`/);
});
