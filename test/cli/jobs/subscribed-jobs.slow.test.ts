/** Subscriptions that fire jobs created at run time, beside a running gateway. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startGateway, until } from '../../helpers/gateway.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const CONFIG = 'platforms: { webhook: { enabled: true, secret: a-literal-secret-for-tests } }\n';

test('a subscription may name a job of the store, but not an unknown one', async (t) => {
  const gateway = await startGateway(t, { home: tempDir(t), config: CONFIG });
  const refused = await gateway.cli('webhook', 'subscribe', 'deploys', '--cron-job', 'smoke-test');
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /`smoke-test`.*\(unknown-job\)/);
  const made = await gateway.cli(
    'job',
    'create',
    'smoke-test',
    '--schedule',
    '0 4 * * *',
    '--prompt',
    'Test.',
    '--json',
  );
  assert.equal(made.code, 0, made.stderr);
  const { id } = JSON.parse(made.stdout);
  const subscribed = await gateway.cli(
    'webhook',
    'subscribe',
    'deploys',
    '--cron-job',
    'smoke-test',
    '--prompt',
    'Now {sha}',
  );
  assert.equal(subscribed.code, 0, subscribed.stderr);
  const sent = await gateway.cli('webhook', 'test', 'deploys', '--payload', '{"sha":"a1"}');
  assert.match(sent.stdout, new RegExp(`^202 .*"cron_job":"${id}"`));
  await until(async () => {
    const { stdout } = await gateway.cli('deliveries', 'list', '--job', id, '--state', 'done', '--json');
    return JSON.parse(stdout).length === 1;
  });
  await gateway.cli('job', 'remove', 'smoke-test');
  const gone = await gateway.cli('webhook', 'test', 'deploys');
  assert.equal(gone.code, 1);
  assert.match(gone.stderr, /"deploys".*\n {2}cron_job: .*`smoke-test`/);
});
