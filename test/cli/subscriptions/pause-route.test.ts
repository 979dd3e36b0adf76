/** `route pause` and `route resume`, with and without a gateway. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runInProcess } from '../../helpers/cli.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: a-global-secret-for-tests
    routes:
      alerts: { prompt: "{a}" }
      ping: { prompt: "{a}" }
      fired: { prompt: "{a}", cron_job: report }
jobs:
  report: { schedule: "0 8 * * *", prompt: Report. }
`;
const UNTIL = '2026-01-01T01:00:00.000Z';

test('a route is paused for a time and resumed, as lists, doctor and explain show', async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, 'config.yaml'), CONFIG, { mode: 0o600 });
  writeFileSync(join(home, 'event.json'), '{"a":1}');
  const clock = new FakeClock(Date.parse('2026-01-01T00:00:00Z'));
  const run = (...args: readonly string[]) => runInProcess(args, { home, context: { clock } });
  const paused = await run('route', 'pause', 'alerts', '--for', '1h', '--by', 'ann\u202e');
  assert.equal(paused.code, 0, paused.stderr);
  for (const screen of [paused, await run('webhook', 'list', '--all')])
    assert.match(screen.stdout, new RegExp(`alerts .*${UNTIL}`));
  const [row] = JSON.parse((await run('webhook', 'list', '--all', '--json')).stdout);
  assert.deepEqual(row.paused, { since: clock.now(), until: clock.now() + 3_600_000, by: 'cli:ann\ufffd' });
  assert.match((await run('webhook', 'list', '--all')).stdout, /paused by cli:ann\ufffd until/);
  assert.match((await run('doctor')).stdout, new RegExp(`alerts .*${UNTIL}`));
  const explain = async (route: string) =>
    (await run('explain', route, '--payload', `@${join(home, 'event.json')}`)).stdout;
  assert.match(await explain('alerts'), new RegExp(UNTIL));
  assert.doesNotMatch(await explain('ping'), /paused/);
  await run('route', 'pause', 'fired');
  assert.match(await explain('fired'), /paused/);
  await run('route', 'resume', 'fired');
  assert.doesNotMatch(await explain('fired'), /paused/);
  assert.equal((await run('route', 'resume', 'alert')).code, 0);
  const routes = async () => JSON.parse((await run('webhook', 'list', '--all', '--json')).stdout);
  assert.deepEqual(new Set((await routes()).map((route: { paused: unknown }) => route.paused)), new Set([null]));
  await run('route', 'pause', 'ping', '--by', 'ann');
  await run('route', 'resume', 'ping', '--by', 'bo');
  const ping = (await routes()).find(({ name }: { name: string }) => name === 'ping');
  assert.deepEqual(ping.last_action, { did: 'resumed', at: clock.now(), by: 'cli:bo' });
  // What is not paused, or not any more, is not resumed.
  await run('route', 'resume', 'ping', '--by', 'cy');
  await run('route', 'pause', 'alerts', '--for', '1h', '--by', 'ann');
  clock.advance(3_600_001);
  assert.doesNotMatch((await run('route', 'resume', 'alerts', '--by', 'cy')).stdout, /resumed/);
  const actions = (await routes()).map(({ last_action }: { last_action: { by: string } | null }) => last_action?.by);
  assert.ok(actions.includes('cli:ann') && actions.includes('cli:bo') && !actions.includes('cli:cy'));
  // A removed route with held events can be resumed, too.
  await run('route', 'pause', 'alerts');
  writeFileSync(join(home, 'config.yaml'), CONFIG.replace('alerts:', 'news:'), { mode: 0o600 });
  assert.equal((await run('route', 'resume', 'alerts')).code, 0);
  assert.equal((await run('route', 'pause', 'nothing')).code, 1);
});

test('a subscription shows who has resumed it', async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, 'config.yaml'), CONFIG, { mode: 0o600 });
  const context = { clock: new FakeClock(Date.parse('2026-01-01T00:00:00Z')) };
  const run = (...args: readonly string[]) => runInProcess(args, { home, context });
  assert.equal((await run('webhook', 'subscribe', 'news', '--prompt', '{a}')).code, 0);
  assert.doesNotMatch((await run('webhook', 'show', 'news')).stdout, /resumed/);
  await run('route', 'pause', 'news', '--by', 'ann');
  await run('route', 'resume', 'news', '--by', 'bo\u202e');
  const { stdout } = await run('webhook', 'show', 'news');
  assert.match(stdout, /resumed by cli:bo\ufffd at 2026-01-01/);
  assert.doesNotMatch(stdout, /cli:ann/);
});
