/** Tests `max_age_seconds`: an event's age is its age on arrival, also when replayed, explained or compared later. */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Clock } from '../../../../runtime/platform/clock.ts';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import type { RequestSummary } from '../../../../schemas/built/operations/types.ts';
import type { CliResult } from '../../../helpers/cli.ts';
import { runInProcess } from '../../../helpers/cli.ts';
import { startGateway } from '../../../helpers/gateway.ts';
import { sendAgain } from '../../../helpers/send-again.ts';
import { signed } from '../../../helpers/serve.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const SECRET = 'a secret of sixteen characters';
const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: ${SECRET}
    routes:
      builds:
        max_age_seconds: 3600
        timestamp: build.finished_at
        prompt: "Build {build.id}"
`;
const HOUR = 3_600_000;

test('ignores a late event, and still accepts one that arrived in time', async (t) => {
  const home = tempDir(t);
  let shift = 0;
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + shift };
  const options = { home, context: { clock } };
  const { url, cli } = await startGateway(t, { ...options, config: CONFIG });
  const send = async (finished_at: unknown): Promise<Record<string, unknown>> => {
    const body = JSON.stringify({ build: { id: 7, finished_at } });
    const answer = await sendAgain(`${url}/webhooks/builds`, { method: 'POST', body, headers: signed(body, SECRET) });
    return (await answer.json()) as Record<string, unknown>;
  };
  const now = Date.now();
  const late = await send(Math.floor((now - 2 * HOUR) / 1000));
  assert.deepEqual([late.status, late.reason], ['ignored', 'age']);
  for (const taken of [null, 'yesterday', now + HOUR, new Date(now).toISOString()]) {
    assert.equal((await send(taken)).status, 'accepted', String(taken));
  }
  const list = JSON.parse((await cli('requests', 'list', '--json')).stdout) as readonly RequestSummary[];
  const id = list[0]?.id ?? '';
  const ignored = list.find(({ outcome }) => outcome === 'ignored');
  assert.equal(ignored?.reason, 'age');
  assert.match((await cli('requests', 'show', ignored?.id ?? '')).stdout, /\bage: 72\d\d s\b[\s\S]*`max_age_seconds`/);

  shift = 5 * HOUR;
  assert.match((await cli('requests', 'replay', id, '--by', 'eve')).stdout, /^202 /);
  const [newest] = JSON.parse((await cli('deliveries', 'list', '--json')).stdout) as readonly { readonly id: string }[];
  assert.match((await cli('deliveries', 'show', newest?.id ?? '')).stdout, /accepted, by cli:eve/);
  assert.equal((await cli('explain', 'builds', '--request', id)).code, 0);
  assert.equal((await cli('explain', 'builds', '--request', ignored?.id ?? '')).code, 1);
  const given = JSON.stringify({ build: { finished_at: now } });
  const explained = await cli('explain', 'builds', '--payload', given, '--json');
  assert.equal(JSON.parse(explained.stdout).reason, 'age');
  for (const [time, count] of [
    ['2026/11/28 19:09:47', 1],
    [null, 1],
    [now, 0],
  ] as const) {
    const payload = JSON.stringify({ build: { id: 1, finished_at: time } });
    const { warnings } = JSON.parse((await cli('explain', 'builds', '--payload', payload, '--json')).stdout);
    const about = (warnings as readonly string[]).filter((warning) => warning.includes('build.finished_at'));
    assert.equal(about.length, count, String(time));
  }

  // A test defines when its event arrives.
  const printed = (await cli('requests', 'show', ignored?.id ?? '', '--as-test')).stdout;
  assert.match(printed, /came_at: 20[\s\S]*outcome: ignored\n +reason: age\n/);
  const tests = join(home, 'age.test.yaml');
  const tested = (text: string): Promise<CliResult> => {
    writeFileSync(tests, text);
    return runInProcess(['test', tests, '--config', join(home, 'config.yaml')], options);
  };
  assert.equal((await tested(printed)).code, 0);
  assert.equal((await tested(printed.replace(/ +came_at.*\n/, ''))).code, 1);
  assert.equal((await tested(printed.replace(/came_at: .*/, 'came_at: yesterday'))).code, 1);

  // A shorter age does not lose events that were younger on arrival.
  writeFileSync(join(home, 'next.yaml'), CONFIG.replace('3600', '60'));
  const { stdout } = await runInProcess(
    ['diff', 'config.yaml', '--config', 'next.yaml', '--requests', '100', '--json'],
    options,
  );
  const { changes, requests } = JSON.parse(stdout);
  assert.deepEqual([requests.lost, changes.length], [0, 1]);
  assert.equal(changes[0].field, 'max_age_seconds');
});
