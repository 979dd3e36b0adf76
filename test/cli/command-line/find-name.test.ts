import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findName } from '../../../cli/base/errors.ts';
import { runInProcess } from '../../helpers/cli.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const known = new Map([
  ['report', 1],
  ['report-weekly', 2],
  ['Report', 1],
  ['backup', 3],
]);
const find = (name: string): number => findName({ kind: 'job', name, known, listedBy: 'hookwright job list' });

test('a whole name wins over longer ones, and a beginning is enough where no other has it', () => {
  assert.equal(find('report'), 1);
  assert.equal(find('report-'), 2);
  assert.equal(find('b'), 3);
  assert.equal(find('R'), 1);
});

test('several names of one thing are no ambiguity', () => {
  const aliases = new Map([
    ['telegram', 'messenger_a'],
    ['tele', 'messenger_a'],
  ]);
  assert.equal(findName({ kind: 'target', name: 'te', known: aliases, listedBy: 'x' }), 'messenger_a');
});

test('an ambiguous beginning lists the candidates, an unknown name the closest', () => {
  assert.throws(() => find('rep'), /several jobs begin with "rep"/);
  assert.throws(() => find('bakcup'), { message: 'there is no job "bakcup"' });
  assert.throws(() => find(''), /there is no job ""/);
});

test('commands take beginnings of blueprints, sources, jobs, routes and subscriptions', async (t) => {
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
  const refused = async (...argv: string[]): Promise<string> => {
    const { code, stderr } = await run(...argv);
    assert.equal(code, 1);
    return stderr;
  };
  assert.match(await fine('job', 'show', 'nightl'), /nightly/);
  assert.match(await refused('job', 'show', 'nigh'), /several jobs begin with "nigh"\n.*nightly, nightmare/);
  assert.match(await fine('blueprint', 'show', 'morning'), /morning-brief/);
  assert.match(await fine('source', 'show', 'shop'), /Shopify/);
  assert.match(await refused('source', 'show', 'mailgn'), /did you mean mailgun\?/);
  assert.match(await refused('explain', 're', '--event', 'x', '--payload', '{}'), /revenue, review/);
  await fine('webhook', 'subscribe', 'alerts', '--prompt', 'x');
  await fine('webhook', 'subscribe', 'alarms', '--prompt', 'x');
  assert.match(await refused('webhook', 'remove', 'al'), /several subscriptions begin with "al"\n.*alarms, alerts/);
  assert.match(await fine('webhook', 'show', 'ale'), /^alerts: /);
  await fine('webhook', 'disable', 'ala');
  assert.match((await run('webhook', 'remove', 'ala')).stderr, /removed alarms/);
  assert.match(await refused('webhook', 'remove', 'alrets'), /did you mean alerts\?/);
});

test('a person is offered the targets of a blueprint by the names that they know', async (t) => {
  const home = tempDir(t);
  const run = async (...argv: string[]): Promise<string> => (await runInProcess(argv, { home })).stdout;
  const shown = await run('blueprint', 'show', 'morning-brief');
  assert.match(shown, /telegram.*discord/);
  assert.doesNotMatch(shown, /messenger_a|community_chat/);
  assert.match(await run('catalog', 'publish'), /"telegram"/);
  const { stderr } = await runInProcess(['blueprint', 'fill', 'morning-brief', 'tme=08:00'], { home });
  assert.match(stderr, /has no field `tme`; did you mean `time`\?/);
});
