/** The filters of `gateway logs`, over chunks that end anywhere. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { logFilter } from '../../../cli/gateway-status.ts';
import { runInProcess } from '../../helpers/cli.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const line = (time: string, level: string, route: string, msg: string): string =>
  `${JSON.stringify({ level, time: `2026-01-05T${time}Z`, route, msg })}\n`;
const LOG = [
  line('08:00:00', 'info', 'review', 'one'),
  line('09:00:00', 'warn', 'alerts', 'two'),
  '    at a stack trace\n',
  line('10:00:00', 'error', 'review', 'three'),
  line('11:00:00', 'info', 'review', 'four'),
].join('');

const messages = (text: string): string => [...text.matchAll(/"msg":"(\w+)"/g)].map(([, msg]) => msg).join(' ');
const ALL = { route: null, level: null, since: null };

test('every condition filters the log, regardless of its chunks', () => {
  const cases = [
    [{ ...ALL, route: 'review' }, 'one three four'],
    [{ ...ALL, level: 'warn' as const }, 'two three'],
    [{ ...ALL, since: Date.UTC(2026, 0, 5, 9, 30) }, 'three four'],
    [{ route: 'review', level: 'error' as const, since: 0 }, 'three'],
  ] as const;
  for (const [conditions, expected] of cases) {
    for (const size of [1, 7, 1000]) {
      const choose = logFilter(conditions);
      let text = '';
      for (let at = 0; at < LOG.length; at += size) text += choose?.(Buffer.from(LOG.slice(at, at + size)));
      assert.equal(messages(text), expected);
    }
  }
  assert.equal(logFilter(ALL), null);
});

test('-n counts the matching lines, and a terminal shows their dates', async (t) => {
  const home = tempDir(t);
  mkdirSync(join(home, 'logs'));
  writeFileSync(join(home, 'logs/gateway.log'), LOG);
  const { stdout } = await runInProcess(['gateway', 'logs', '--route', 'review', '-n', '2'], { home });
  assert.equal(messages(stdout), 'three four');
  const wrong = await runInProcess(['gateway', 'logs', '--level', 'loud'], { home });
  assert.equal(wrong.code, 2);
});

test('an unknown route is rejected, a known route without lines is not', async (t) => {
  const home = tempDir(t);
  mkdirSync(join(home, 'logs'));
  writeFileSync(join(home, 'logs/gateway.log'), LOG);
  const entry = { secret: 'vN3qTz7LxW9bKd2RsYc4', prompt: 'p' };
  writeFileSync(join(home, 'webhook_subscriptions.json'), JSON.stringify({ reviews: entry }));
  const run = (route: string) => runInProcess(['gateway', 'logs', '--route', route], { home });
  const { code, stderr } = await run('nosuch');
  assert.deepEqual([code, stderr.includes('"nosuch"')], [1, true]);
  assert.equal((await run('reviews')).code, 0, 'in use');
  assert.equal((await run('review')).code, 0, 'in the log');
});
