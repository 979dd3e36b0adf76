/** `gateway run`: changes at run time, a second gateway, and commands in the folder of another project. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runInProcess, startInProcess } from '../../helpers/cli.ts';
import { startGateway, until } from '../../helpers/gateway.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: a-literal-secret-for-tests
    routes:
      hello:
        events: [greeting]
        prompt: "Hello {name}"
`;

test('a change is recompiled and served; one with errors is reported and keeps the old table', async (t) => {
  const gateway = await startGateway(t, { home: tempDir(t), config: CONFIG });
  const path = join(gateway.home, 'config.yaml');
  const { hash } = (await gateway.status()).table;
  writeFileSync(path, CONFIG.replace('Hello {name}', 'Bye {name}'));
  await until(async () => (await gateway.status()).table.hash !== hash);
  writeFileSync(path, CONFIG.replace('prompt:', 'promt:'));
  const { table } = await until(async () => {
    const status = await gateway.status();
    return status.table.error !== null && status;
  });
  assert.match(table.error ?? '', /config\.yaml:8:9: /);
  assert.match(gateway.running.stderr(), /"level":"error"/);
  assert.equal((await gateway.cli('webhook', 'test', 'hello')).code, 0);
  const reload = await gateway.cli('gateway', 'reload');
  assert.equal(reload.code, 1);
  assert.match(reload.stderr, /unknown-key/);
  writeFileSync(path, CONFIG);
  assert.equal((await gateway.cli('gateway', 'reload')).code, 0);
  assert.equal((await gateway.status()).table.error, null);
});

test('a second gateway on one home is rejected, but a stale lock is not a problem', async (t) => {
  const gateway = await startGateway(t, { home: tempDir(t), config: CONFIG });
  const second = await runInProcess(['gateway', 'run', '--port', '0'], { home: gateway.home });
  assert.equal(second.code, 1);
  assert.ok(second.stderr.includes(gateway.url) && second.stderr.includes(`pid ${process.pid}`), second.stderr);
  await gateway.stop();
  const third = startInProcess(['serve', '--port', '0'], { home: gateway.home });
  await until(async () => third.stderr().includes('listening'));
  third.signal('SIGINT');
  assert.equal((await third.done).code, 0);
});

test('a secret changed in .env takes effect without a restart', async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, '.env'), 'HOOK=first-secret-of-the-route\n');
  const config = CONFIG.replace('a-literal-secret-for-tests', 'env:HOOK');
  const gateway = await startGateway(t, { home, config });
  assert.equal((await gateway.cli('webhook', 'test', 'hello')).code, 0);
  writeFileSync(join(home, '.env'), 'HOOK=second-secret-of-the-route\n');
  await until(async () => (await gateway.cli('webhook', 'test', 'hello')).code === 0);
});

test('a reload returns once the change is in service, or reports the time of the last load', async (t) => {
  const gateway = await startGateway(t, { home: tempDir(t), config: CONFIG });
  for (const event of ['first', 'second', 'third']) {
    writeFileSync(join(gateway.home, 'config.yaml'), CONFIG.replace('greeting', event));
    assert.equal((await gateway.cli('gateway', 'reload')).code, 0);
    const { stdout } = await gateway.cli('webhook', 'test', 'hello', '--payload', '{"name":"Ada"}');
    assert.match(stdout, new RegExp(`^202 .*"event":"${event}"`));
  }
  const { loaded_at } = (await gateway.status()).table;
  const { stderr } = await gateway.cli('gateway', 'reload');
  const [at = ''] = /\d{4}-[\d:T.-]+Z/.exec(stderr) ?? [];
  assert.equal(Date.parse(at), loaded_at, stderr);
  assert.equal((await gateway.status()).table.loaded_at, loaded_at);
});

test('in the folder of another project each command names the gateway it uses', async (t) => {
  const gateway = await startGateway(t, { home: tempDir(t), config: CONFIG });
  const cwd = tempDir(t);
  const here = join(cwd, 'hookwright.yaml');
  writeFileSync(here, CONFIG.replace('hello', 'other'));
  const served = join(gateway.home, 'config.yaml');
  const elsewhere = (...argv: string[]) => runInProcess(argv, { home: gateway.home, cwd });
  const isNoted = (stderr: string): boolean => [gateway.home, served, here].every((path) => stderr.includes(path));
  for (const argv of [
    ['gateway', 'reload'],
    ['webhook', 'test', 'hello'],
    ['requests', 'list'],
    ['deliveries', 'list'],
  ]) {
    const { stderr } = await elsewhere(...argv);
    assert.ok(isNoted(stderr), `${argv.join(' ')}: ${stderr}`);
    assert.equal(stderr.split(here).length, 2, 'it is noted once');
    assert.ok(!(await gateway.cli(...argv)).stderr.includes(served), argv.join(' '));
  }
  writeFileSync(join(gateway.home, 'gateway.log'), '');
  assert.ok(isNoted((await elsewhere('gateway', 'logs')).stderr));
  const stop = await elsewhere('gateway', 'stop');
  assert.equal(stop.code, 1);
  assert.ok(stop.stderr.includes(served), stop.stderr);
  assert.ok(stop.stderr.endsWith(`cd ${gateway.home} && hookwright gateway stop\n`), stop.stderr);
  assert.equal((await gateway.status()).state, 'serving');
  for (const argv of [
    ['gateway', 'start'],
    ['gateway', 'run'],
  ]) {
    const { code, stderr } = await elsewhere(...argv);
    assert.equal(code, 1);
    assert.ok(stderr.includes(`${served}\n`), stderr);
    assert.match(stderr, /home: \.\/state/);
  }
});
