/** Subscriptions beside a running gateway. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startGateway, until } from '../../helpers/gateway.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: a-global-secret-for-tests
    routes:
      fixed:
        prompt: "{a}"
  messenger_a:
    enabled: true
    token: "1:abc"
gateway: { multiplex_profiles: true }
jobs:
  nightly: { schedule: "0 3 * * *", prompt: Clean up. }
`;

/** Runs a command line while the gateway runs in this process. */
async function shell(line: string): Promise<string> {
  const child = spawn('sh', ['-c', line], { stdio: ['ignore', 'pipe', 'ignore'] });
  let text = '';
  for await (const chunk of child.stdout) text += chunk;
  return text;
}

test('a running gateway serves a new subscription at the next request, and the curl line reaches it', async (t) => {
  const gateway = await startGateway(t, { home: tempDir(t), config: CONFIG });
  const made = await gateway.cli(
    'webhook',
    'subscribe',
    'live',
    '--events',
    'greeting',
    '--prompt',
    'live {event_type}',
  );
  assert.equal(made.code, 0, made.stderr);
  const line = /^ {2}\w+ +(.*\bcurl .*)$/m.exec(made.stdout)?.[1] ?? '';
  assert.ok(line.includes(`${gateway.url}/webhooks/live`), line);
  if (spawnSync('sh', ['-c', 'command -v openssl && command -v curl']).status === 0) {
    assert.match(await shell(line), /"status":"accepted","route":"live","event":"greeting"/);
  }
  assert.equal((await gateway.cli('webhook', 'test', 'live')).code, 0);
  const disabled = await gateway.cli('webhook', 'disable', 'live');
  assert.equal(disabled.code, 0, disabled.stderr);
  const refusedNow = await gateway.cli('webhook', 'test', 'live');
  assert.equal(refusedNow.code, 1);
  assert.match(refusedNow.stdout, /^403 .*route_disabled/);
  await gateway.cli('webhook', 'remove', 'live');
  assert.equal((await gateway.cli('webhook', 'test', 'live')).code, 1);
});

test('an invalid entry is quarantined in list, status and log, and the others are served', async (t) => {
  const gateway = await startGateway(t, { home: tempDir(t), config: CONFIG });
  const file = join(gateway.home, 'webhook_subscriptions.json');
  writeFileSync(
    file,
    JSON.stringify({
      good: { secret: 'a-secret-for-the-good' },
      bad: { secret: 'a-secret-for-the-bad', cron_job: 'nope' },
    }),
  );
  assert.equal((await gateway.cli('webhook', 'test', 'good')).code, 0);
  const { serving, quarantined } = (await gateway.status()).subscriptions;
  assert.deepEqual([serving, quarantined.map(({ name }) => name)], [1, ['bad']]);
  assert.match(quarantined[0]?.reason ?? '', /nope/);
  await until(async () => /"level":"warn".*"subscription":"bad"/.test(gateway.running.stderr()));
  writeFileSync(file, '{"good"');
  await gateway.cli('webhook', 'test', 'fixed');
  const { subscriptions } = await gateway.status();
  assert.equal(subscriptions.serving, 1);
  assert.notEqual(subscriptions.error, null);
});
