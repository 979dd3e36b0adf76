/** Tests commands on captured requests with a running gateway. */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import type { RequestSummary } from '../../../../schemas/built/operations/types.ts';
import { startProcess } from '../../../helpers/cli.ts';
import { startGateway, until } from '../../../helpers/gateway.ts';
import { sendAgain } from '../../../helpers/send-again.ts';
import { signed } from '../../../helpers/serve.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const SECRET = 'a secret of sixteen characters';
const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      review:
        events: [pull_request]
        filters: { field: action, equals: opened }
        prompt: "Review #{number}"
      quiet: { capture: none }
      chat: { source: meta }
`;

async function setUp(t: TestContext) {
  const home = tempDir(t);
  writeFileSync(join(home, '.env'), `WEBHOOK_SECRET=${SECRET}\n`, { mode: 0o600 });
  const gateway = await startGateway(t, { home, config: CONFIG });
  const send = (payload: unknown, headers: Record<string, string> = {}, path = '/webhooks/review') => {
    const body = typeof payload === 'string' ? payload : JSON.stringify(payload);
    const sent = { ...signed(body, SECRET), 'X-GitHub-Event': 'pull_request', ...headers };
    return sendAgain(gateway.url + path, { method: 'POST', body, headers: sent });
  };
  const ok = async (...argv: string[]): Promise<string> => {
    const { code, stdout, stderr } = await gateway.cli('requests', ...argv);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const list = async (...argv: string[]) =>
    JSON.parse(await ok('list', '--json', ...argv)) as readonly RequestSummary[];
  return { ...gateway, send, ok, list };
}

test('names the missing setting for a URL verification that the route cannot answer', async (t) => {
  const { url, ok } = await setUp(t);
  const asked = await fetch(`${url}/webhooks/chat?hub.mode=subscribe&hub.verify_token=word&hub.challenge=7`);
  assert.equal(asked.status, 405);
  const shown = await ok('show');
  assert.match(shown, /^answer +405 method_not_allowed: no_verify_token /m);
  assert.match(shown, /^decided by +probe: .*`verify_token`/m);
  assert.match(shown, /^next +.*`verify_token`.*\bchat\b/m);
  assert(!shown.includes('word&'), shown);
  await fetch(`${url}/webhooks/chat`);
  assert.match(await ok('show'), /^next .*\bPOST\b/m);
});

test('explain and tests read a saved request, and a generated test passes unchanged', async (t) => {
  const { send, ok, list, cli, home } = await setUp(t);
  const body = '{"action": "opened", "number": 7}';
  await send(body);
  const [{ id } = { id: '' }] = await list();
  assert.equal(await ok('show', id, '--body'), body);
  await ok('show', id, '--save', 'kept.json');
  const explained = await cli('explain', 'review', '--payload', '@kept.json', '--json', '--config', 'config.yaml');
  assert.equal(JSON.parse(explained.stdout).prompt, 'Review #7');
  for (const extra of [[], ['--save', 'kept.json']]) {
    const skeleton = await ok('show', id, '--as-test', '--config', 'config.yaml', ...extra);
    writeFileSync(join(home, 'kept.test.yaml'), `config: config.yaml\n${skeleton}`);
    const tested = await cli('test', 'kept.test.yaml');
    assert.equal(tested.code, 0, tested.stdout + tested.stderr);
    assert.match(skeleton, /prompt: "Review #7"/);
  }
  const curl = await ok('show', id, '--curl');
  assert.match(curl, /--data-binary '\{"action": "opened", "number": 7\}'/);
  assert(!/signature/i.test(curl));
});

test('generates a test for a route with a script only with --run-script', async (t) => {
  const { send, ok, list, cli, home } = await setUp(t);
  await send({ action: 'opened', number: 1 });
  const [{ id } = { id: '' }] = await list();
  writeFileSync(join(home, 'script.sh'), '#!/bin/sh\ntouch ran\necho "{}"\n', { mode: 0o700 });
  writeFileSync(
    join(home, 'scripted.yaml'),
    CONFIG.replace('        events:', '        script: script.sh\n        events:'),
  );
  const refused = await cli('requests', 'show', id, '--as-test', '--config', 'scripted.yaml');
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /\breview\b.*\n.*--run-script/);
  assert.match(await ok('show', id, '--as-test', '--config', 'scripted.yaml', '--run-script'), /^tests:/);
});

test('a replay is a new event, and a request without a valid signature cannot be replayed', async (t) => {
  const { send, cli, list } = await setUp(t);
  await send({ action: 'opened', number: 3 }, { 'X-GitHub-Delivery': 'once' });
  await send({ action: 'opened' }, { 'x-hub-signature-256': 'sha256=00' });
  const [refused, taken] = await list();
  const again = await cli('requests', 'replay', taken?.id ?? '');
  assert.match(again.stdout, /^202 \{"status":"accepted","route":"review","event":"pull_request"/);
  const [newest] = await list();
  assert.notEqual(newest?.delivery_id, 'once');
  const shown = await cli('requests', 'show', newest?.id ?? '', '--json');
  assert.equal(JSON.parse(shown.stdout).replay_of, taken?.id);
  const no = await cli('requests', 'replay', refused?.id ?? '');
  assert.equal(no.code, 1);
});

test('--follow prints requests as they arrive', async (t) => {
  const { send, home, list } = await setUp(t);
  await send({ action: 'opened', number: 1 });
  // A separate process, because this process is kept alive by other handles.
  const following = startProcess(['requests', 'list', '--follow', '--json'], { home });
  let printed = '';
  following.stdout?.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  const ended = new Promise((resolve) => following.once('exit', resolve));
  const lines = (): string[] => printed.trim().split('\n');
  await until(async () => following.exitCode !== null || printed.includes('\n'));
  await send({ action: 'closed', number: 2 });
  await until(async () => following.exitCode !== null || lines().length === 2);
  following.kill('SIGINT');
  assert.equal(await ended, 0);
  const ids = lines().map((line) => (JSON.parse(line) as RequestSummary).id);
  assert.deepEqual(ids, (await list()).map(({ id }) => id).reverse());
});

test('the log line of a rejected request names the captured request', async (t) => {
  const { send, running, list } = await setUp(t);
  await send({ action: 'closed' });
  const [kept] = await list();
  const line = await until(async () =>
    running
      .stderr()
      .split('\n')
      .find((text) => text.includes('"ignored"')),
  );
  assert.equal(JSON.parse(line).request, kept?.id);
});

test('names an unexpected sender in the log and the next step, but not in the answer', async (t) => {
  const { url, ok, running } = await setUp(t);
  const senders = [
    ['linear', { 'linear-signature': '00'.repeat(32) }],
    ['bearer', { authorization: 'Bearer token-of-the-sender' }],
  ] as const;
  for (const [name, headers] of senders) {
    const answer = await sendAgain(`${url}/webhooks/review`, { method: 'POST', body: '{"a":1}', headers });
    assert.equal(answer.status, 401);
    assert.doesNotMatch(await answer.text(), new RegExp(name));
    const shown = await ok('show');
    assert.match(shown, new RegExp(`^next .*\`source: ${name}\`.*\\breview\\b`, 'm'));
    const hint = new RegExp(`"hint":".*\`source: ${name}\``);
    const log = await until(async () =>
      running
        .stderr()
        .split('\n')
        .find((line) => hint.test(line)),
    );
    assert.doesNotMatch(log + shown, /token-of-the-sender/);
  }
});
