/** The `.env` beside `./hookwright.yaml` is read with that config, unless others can write it. */
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

interface Check {
  readonly check: string;
  readonly status: string;
  readonly detail: string;
}

/** The checks of secrets in `doctor`. */
async function secretsOf(run: ReturnType<typeof project>['run'], ...argv: string[]): Promise<Check> {
  const checks = JSON.parse((await run(...argv, '--json')).stdout) as readonly Check[];
  const found = checks.find(({ check }) => check === 'secret' || check === 'secrets');
  assert.ok(found !== undefined);
  return found;
}

test('its variables apply to the config beside it', async (t) => {
  const { run, config } = project(t);
  assert.equal((await secretsOf(run, 'doctor')).status, 'ok');
  assert.equal((await secretsOf(run, 'doctor', '--config', config)).status, 'ok');
});

test('they do not apply to another config, and the message names the files that were searched', async (t) => {
  const { run, home, cwd } = project(t);
  writeFileSync(join(cwd, 'other.yaml'), CONFIG, { mode: 0o600 });
  const lookedAt = async (...argv: string[]) => {
    const { status, detail } = await secretsOf(run, 'doctor', ...argv);
    assert.deepEqual([status, detail.includes('env:PROJECT_SECRET')], ['failed', true]);
    return detail.match(/\/\S+\.env\b/g) ?? [];
  };
  assert.deepEqual(await lookedAt('--config', 'other.yaml'), [`${home}/.env`]);
  writeFileSync(join(cwd, '.env'), '');
  assert.deepEqual(await lookedAt(), [`${cwd}/.env`, `${home}/.env`]);
});

test('it overrides the file of the home, and the environment overrides both', async (t) => {
  const { run, home, cwd } = project(t);
  writeFileSync(join(home, '.env'), 'WEBHOOK_PORT=7001\n');
  writeFileSync(join(cwd, '.env'), `PROJECT_SECRET=${SECRET}\nWEBHOOK_PORT=7002\n`);
  const lint = await run('lint');
  assert.match(lint.stdout, /overridden-setting: `WEBHOOK_PORT` .*`\.env`.*`port: 0`.*`7002`/);
  const env = { WEBHOOK_PORT: '7003' };
  assert.match(
    (await runInProcess(['lint'], { home, cwd, env })).stdout,
    /overridden-setting: `WEBHOOK_PORT` .*`7003`/,
  );
});

test('one that others can write is ignored with a note', async (t) => {
  const { run, env } = project(t);
  chmodSync(env, 0o646);
  assert.match((await run('lint')).stdout, /\.env:1:1: warning secret-exposed/);
  assert.equal((await secretsOf(run, 'doctor')).status, 'failed');
});
