import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { updateSubscriptions } from '../../../cli/subscriptions/subscription-file.ts';
import { contextFor, runProcess } from '../../helpers/cli.ts';
import { nodeArgv } from '../../helpers/node-argv.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const CONFIG = 'platforms:\n  webhook:\n    enabled: true\n    secret: env:SECRET\n';
/** The number of processes; `HOOKWRIGHT_LONG_TESTS=1` runs all 200. */
const PROCESSES = process.env.HOOKWRIGHT_LONG_TESTS === '1' ? 200 : 4;
const [NODE = '', ...WRITER] = nodeArgv(new URL('../../helpers/subscription-writer.js', import.meta.url));

const entriesOf = (home: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(home, 'webhook_subscriptions.json'), 'utf8')) as Record<string, unknown>;

test(`${PROCESSES} concurrent subscribe processes create ${PROCESSES} entries`, async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, 'config.yaml'), CONFIG);
  const names = Array.from({ length: PROCESSES }, (_, at) => `s${at}`);
  const results = await Promise.all(
    names.map((name) => runProcess(['webhook', 'subscribe', name, '--prompt', name], { home })),
  );
  for (const { code, stderr } of results) assert.equal(code, 0, stderr);
  assert.deepEqual(Object.keys(entriesOf(home)).sort(), names.sort());
  assert.equal(statSync(join(home, 'webhook_subscriptions.json')).mode & 0o777, 0o600);
});

test('kill -9 during a write leaves the file as before or after the change', async (t) => {
  for (const delay of [3, 11, 23, 41]) {
    const home = tempDir(t);
    writeFileSync(join(home, 'webhook_subscriptions.json'), '{}\n');
    const child = spawn(NODE, [...WRITER, home], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    await new Promise((resolve) => setTimeout(resolve, delay));
    child.kill('SIGKILL');
    await once(child, 'exit');
    const names = Object.keys(entriesOf(home));
    assert.deepEqual(
      names,
      names.map((_, at) => `s${at}`),
    );
    // Its lock and its temporary file do not block the next writer.
    await updateSubscriptions(contextFor({ home }), (entries) => ({
      entries: new Map([...entries, ['next', {}]]),
      result: null,
    }));
    assert.deepEqual(Object.keys(entriesOf(home)), [...names, 'next']);
  }
});
