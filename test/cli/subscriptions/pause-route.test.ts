/** `route pause` and `route resume`: over a gateway and without one, shown wherever the route is. */
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
const UNTIL = 'paused until 2026-01-01T01:00:00.000Z';

test('a route is paused for a time and resumed; lists, doctor and explain say so', async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, 'config.yaml'), CONFIG, { mode: 0o600 });
  writeFileSync(join(home, 'event.json'), '{"a":1}');
  const clock = new FakeClock(Date.parse('2026-01-01T00:00:00Z'));
  const run = (...args: readonly string[]) => runInProcess(args, { home, context: { clock } });
  const paused = await run('route', 'pause', 'alerts', '--for', '1h');
  assert.deepEqual([paused.code, paused.stdout], [0, `route alerts ${UNTIL}\n`], paused.stderr);
  assert.match((await run('webhook', 'list', '--all')).stdout, new RegExp(`alerts .*serving, ${UNTIL}`));
  const [row] = JSON.parse((await run('webhook', 'list', '--all', '--json')).stdout);
  assert.deepEqual(row.paused, { since: clock.now(), until: clock.now() + 3_600_000 });
  assert.match((await run('doctor')).stdout, new RegExp(`route alerts is ${UNTIL}: nothing of it runs`));
  const explain = async (route: string) =>
    (await run('explain', route, '--payload', `@${join(home, 'event.json')}`)).stdout;
  assert.match(await explain('alerts'), new RegExp(`${UNTIL}: the event is held until then`));
  assert.doesNotMatch(await explain('ping'), /paused/);
  await run('route', 'pause', 'fired');
  assert.match(await explain('fired'), /the route is paused: the event is held until then/);
  await run('route', 'resume', 'fired');
  assert.equal((await run('route', 'resume', 'alert')).stdout, 'route alerts resumed\n');
  assert.doesNotMatch((await run('webhook', 'list', '--all')).stdout, /paused/);
  // One that is gone with what it holds goes on, too.
  await run('route', 'pause', 'alerts');
  writeFileSync(join(home, 'config.yaml'), CONFIG.replace('alerts:', 'news:'), { mode: 0o600 });
  assert.equal((await run('route', 'resume', 'alerts')).stdout, 'route alerts resumed\n');
  const unknown = await run('route', 'pause', 'nothing');
  assert.deepEqual([unknown.code, unknown.stderr.includes('there is no route "nothing"')], [1, true]);
});
