/** `gateway run`: changes while it serves, and a second one. */
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

test('a change is recompiled and served; one with errors leaves the old table serving and says so', async (t) => {
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
  assert.match(table.error ?? '', /the configuration has 1 error/);
  assert.match(gateway.running.stderr(), /configuration has errors: the previous table stays in service/);
  assert.equal((await gateway.cli('webhook', 'test', 'hello')).code, 0);
  const reload = await gateway.cli('gateway', 'reload');
  assert.equal(reload.code, 1);
  assert.match(reload.stderr, /unknown-key/);
  writeFileSync(path, CONFIG);
  assert.equal((await gateway.cli('gateway', 'reload')).code, 0);
  assert.equal((await gateway.status()).table.error, null);
});

test('a second gateway on one home is refused, and a lock left by nobody is not', async (t) => {
  const gateway = await startGateway(t, { home: tempDir(t), config: CONFIG });
  const second = await runInProcess(['gateway', 'run', '--port', '0'], { home: gateway.home });
  assert.equal(second.code, 1);
  assert.match(second.stderr, /another gateway already serves .* on http:\/\/127.* \(pid \d+\)/);
  await gateway.stop();
  const third = startInProcess(['serve', '--port', '0'], { home: gateway.home });
  await until(async () => third.stderr().includes('listening'));
  third.signal('SIGINT');
  assert.equal((await third.done).code, 0);
});
