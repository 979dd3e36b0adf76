/** Tests that requests are served while a subscriptions file of many megabytes is loaded. */
import assert from 'node:assert/strict';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { compileSubscriptions } from '../../compiler/stages/compile-subscriptions.ts';
import type { MachineFacts } from '../../compiler/views/views.ts';
import { compileConfig, IN_FORCE } from '../helpers/compile.ts';
import { until } from '../helpers/gateway.ts';
import { serve } from '../helpers/serve.ts';

const FACTS: MachineFacts = {
  home: '/nowhere',
  script: () => 'present',
  listFile: () => true,
  skill: () => true,
  jobs: [],
  variable: () => undefined,
};

const MANY = 3000;
const SUBSCRIPTION = {
  secret: 'a secret of twenty-eight chars',
  events: ['push', 'pull_request'],
  prompt: 'Review {pull_request.title} by {sender.login} on {repository.full_name}: {pull_request.body}',
};

function many(count: number): string {
  return JSON.stringify(
    Object.fromEntries(Array.from({ length: count }, (_none, index) => [`s-${index}`, SUBSCRIPTION])),
  );
}

test('other routes are served while a long file is loaded; requests to its own routes wait', async (t) => {
  const config = 'platforms: { webhook: { enabled: true, routes: { ci: { prompt: x, secret: env:A } } } }';
  const table = compileConfig(config).output?.table;
  assert(table !== undefined);
  const lowerSubscriptions = (text: string) => compileSubscriptions(text, { table, facts: FACTS, rules: IN_FORCE });
  const served = await serve(t, { routes: { ci: {} } }, { lowerSubscriptions });
  const write = (text: string): void => {
    const file = join(served.home, 'webhook_subscriptions.json');
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  };
  const serving = () => served.gateway.status().subscriptions.serving;
  write(many(MANY));
  assert.equal((await served.post('/webhooks/ci', {})).status, 202);
  assert.equal(serving(), 0, 'the first request waited for the whole file');
  assert.equal((await served.post(`/webhooks/s-${MANY - 1}`, { event_type: 'push' })).status, 202);
  assert.equal(serving(), MANY);
  write(`${many(MANY).slice(0, -1)},}`);
  await until(async () => {
    await served.post('/webhooks/ci', {});
    return served.gateway.status().subscriptions.error;
  });
  assert.equal(serving(), MANY, 'a file that is not JSON leaves the others in service');
  write('{"only": {"prompt": "x", "secret": "a secret of twenty-eight chars"}}');
  assert.equal((await served.post('/webhooks/only', {})).status, 202);
  assert.equal((await served.post('/webhooks/s-1', {})).status, 404);
});

test('a file beyond the limit is rejected with a hint', async (t) => {
  const served = await serve(t, { routes: { ci: {} } });
  writeFileSync(join(served.home, 'webhook_subscriptions.json'), ' '.repeat(17 * 1_048_576));
  assert.equal((await served.post('/webhooks/ci', {})).status, 202);
  const { error } = served.gateway.status().subscriptions;
  assert.match(error ?? '', /webhook_subscriptions\.json .*\b17 MiB\b.*\b16 MiB\b/);
});
