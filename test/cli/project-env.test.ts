/** The `.env` beside `./hookwright.yaml`: read where that is the config in use, and only when others cannot write it. */
import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { runInProcess } from '../helpers/cli.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const CONFIG = `platforms:
  webhook:
    enabled: true
    port: 0
    secret: env:PROJECT_SECRET
    routes: { alerts: { prompt: "{title}" } }
`;
const SECRET = '8f4c2be19d5a7306e1c4';

function project(t: TestContext) {
  const [cwd, home] = [tempDir(t), tempDir(t)];
  const config = join(cwd, 'hookwright.yaml');
  const env = join(cwd, '.env');
  writeFileSync(config, CONFIG, { mode: 0o600 });
  writeFileSync(env, `PROJECT_SECRET=${SECRET}\n`, { mode: 0o600 });
  const run = (...argv: string[]) => runInProcess(argv, { home, cwd });
  return { config, env, home, cwd, run };
}

test('its variables count for the config beside it', async (t) => {
  const { run, config } = project(t);
  assert.match((await run('doctor')).stdout, /\nok +routes +secrets +all there\n/);
  assert.match((await run('doctor', '--config', config)).stdout, /\nok +routes +secrets +all there\n/);
});

test('they do not count for another config, and the message names the files that were looked at', async (t) => {
  const { run, home, cwd } = project(t);
  writeFileSync(join(cwd, 'other.yaml'), CONFIG, { mode: 0o600 });
  const other = await run('doctor', '--config', 'other.yaml');
  assert.match(other.stdout, /env:PROJECT_SECRET is not set in the environment or \S+\.env\n/);
  writeFileSync(join(cwd, '.env'), '');
  const empty = await run('doctor');
  assert.ok(empty.stdout.includes(`is not set in the environment, ${cwd}/.env or ${home}/.env`), empty.stdout);
});

test('it wins over the file of the home, and the environment over both', async (t) => {
  const { run, home, cwd } = project(t);
  writeFileSync(join(home, '.env'), 'WEBHOOK_PORT=7001\n');
  writeFileSync(join(cwd, '.env'), `PROJECT_SECRET=${SECRET}\nWEBHOOK_PORT=7002\n`);
  const lint = await run('lint');
  assert.match(lint.stdout, /overridden-setting: `WEBHOOK_PORT` of `\.env` replaces `port: 0` by `7002`/);
  const env = { WEBHOOK_PORT: '7003' };
  assert.match((await runInProcess(['lint'], { home, cwd, env })).stdout, /of the environment replaces .* by `7003`/);
});

test('one that others can write is not read, and that is said', async (t) => {
  const { run, env } = project(t);
  chmodSync(env, 0o646);
  assert.match(
    (await run('lint')).stdout,
    /\.env:1:1: warning secret-exposed: others can write this file, so it is not read/,
  );
  assert.match((await run('doctor')).stdout, /env:PROJECT_SECRET is not set/);
});
