import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runInProcess, runOnFakeTerminal, startInProcess } from '../../helpers/cli.ts';
import { startGateway, until } from '../../helpers/gateway.ts';
import { sendAgain } from '../../helpers/send-again.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      pages: { source: notion, secret: "file:secrets/pages", prompt: "{type}" }
      pulls: { source: github, prompt: "{action}" }
`;
const env = { WEBHOOK_SECRET: 'a secret of twenty-eight chars' };
const TOKEN = 'secret_captured_in_the_handshake';
const FINGERPRINT = createHash('sha256').update(TOKEN).digest('hex').slice(0, 16);
const JSON_TYPE = { 'content-type': 'application/json' };
const verification = { method: 'POST', headers: JSON_TYPE, body: JSON.stringify({ verification_token: TOKEN }) };

function event(secret: string, id = 'e-1'): RequestInit {
  const body = JSON.stringify({ type: 'page.created', id });
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  return { method: 'POST', body, headers: { ...JSON_TYPE, 'x-notion-signature': signature } };
}

test('the secret of a handshake is stored and used at once, but only while the command waits', async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, 'config.yaml'), CONFIG, { mode: 0o600 });
  const early = await runInProcess(['source', 'enroll', 'pages', '--yes'], { home, env });
  assert.equal(early.code, 1);
  const file = join(home, 'secrets/pages');
  assert.equal(statSync(file).mode & 0o777, 0o600);

  const gateway = await startGateway(t, { home, env, config: CONFIG });
  const url = `${gateway.url}/webhooks/pages`;
  assert.equal((await fetch(url, verification)).status, 401);
  const waiting = startInProcess(['source', 'enroll', 'pages', '--yes'], { home, env });
  const printed = /with the URL (http\S+)/;
  await until(async () => printed.test(waiting.stderr()));
  const shown = printed.exec(waiting.stderr())?.[1] ?? '';
  assert.match(shown.slice(url.length), /^\/[\w-]{32}$/);
  assert.equal((await fetch(url, verification)).status, 401, 'at the plain address');
  await until(async () => (await fetch(shown, verification)).status === 200);
  assert.equal((await fetch(`${url}/${'x'.repeat(32)}`, verification)).status, 401);
  const { code, stdout, stderr } = await waiting.done;
  assert.match(stderr, /from 127\.0\.0\.1, SHA-256 [0-9a-f]{16}…/);
  assert.deepEqual([code, stdout], [0, `${file}\n`]);
  assert.equal(readFileSync(file, 'utf8'), `${TOKEN}\n`);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal((await sendAgain(url, event(TOKEN))).status, 202);
  assert.equal((await sendAgain(shown, event(TOKEN, 'e-2'))).status, 202, 'the address stays an alias');
  assert.equal((await fetch(shown, verification)).status, 401);
  assert.ok(!stderr.includes(TOKEN));
  assert.ok(!gateway.running.stderr().includes(TOKEN));
});

test('the operator sees client and fingerprint, and without their consent nothing is stored', async (t) => {
  const home = tempDir(t);
  const secret = 'a-random-value-to-begin-with';
  mkdirSync(join(home, 'secrets'));
  writeFileSync(join(home, 'secrets/pages'), secret);
  const gateway = await startGateway(t, { home, env, config: CONFIG });
  for (const [answer, code] of [
    ['n', 1],
    ['y', 0],
  ] as const) {
    const random = (size: number): Buffer => Buffer.alloc(size, code);
    const url = `${gateway.url}/webhooks/pages/${random(24).toString('base64url')}`;
    const ask = [['Is this the secret', answer]] as const;
    const done = runOnFakeTerminal(['source', 'enroll', 'pages'], ask, { home, env, context: { random } });
    await until(async () => (await fetch(url, verification)).status === 200);
    const result = await done;
    assert.equal(result.code, code, result.stderr);
    assert.ok(result.stderr.includes(`127.0.0.1, SHA-256 ${FINGERPRINT}…`), result.stderr);
    assert.equal(readFileSync(join(home, 'secrets/pages'), 'utf8').trim(), code === 1 ? secret : TOKEN);
  }
});

test('a text that is not a secret is not stored, and the secret before it stays in use', async (t) => {
  const home = tempDir(t);
  const file = join(home, 'secrets/pages');
  mkdirSync(join(home, 'secrets'));
  writeFileSync(file, TOKEN);
  const gateway = await startGateway(t, { home, env, config: CONFIG });
  const random = (size: number): Buffer => Buffer.alloc(size, 1);
  const url = `${gateway.url}/webhooks/pages/${random(24).toString('base64url')}`;
  const waiting = startInProcess(['source', 'enroll', 'pages', '--yes'], { home, env, context: { random } });
  await until(async () => waiting.stderr().includes(url));
  const post = (token: unknown) => fetch(url, { ...verification, body: JSON.stringify({ verification_token: token }) });
  for (const token of [5, true, null, ['x'], '']) assert.equal((await post(token)).status, 401, String(token));
  await until(async () => (await post('changeme-changeme-changeme')).status === 200);
  const { code, stderr } = await waiting.done;
  assert.equal(code, 1, stderr);
  assert.ok(!stderr.includes('changeme'), stderr);
  assert.equal(readFileSync(file, 'utf8'), TOKEN);
  assert.equal((await sendAgain(`${gateway.url}/webhooks/pages`, event(TOKEN))).status, 202);
});

test('routes whose sender sends no secret, or whose secret is not a file, are rejected with a hint', async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, 'config.yaml'), CONFIG.replace('"file:secrets/pages"', 'env:WEBHOOK_SECRET'), {
    mode: 0o600,
  });
  const cases: readonly (readonly [string[], number, RegExp])[] = [
    [['pulls'], 1, /\n.*asana, notion/],
    [['pages', '--yes'], 1, /\n.*secret: file:secrets\/pages/],
    [['unknown'], 1, /"unknown"/],
    [['pages', '--timeout', 'soon'], 2, /--timeout/],
    [['pages'], 1, /--yes/],
  ];
  for (const [argv, expected, text] of cases) {
    const { code, stderr, stdout } = await runInProcess(['source', 'enroll', ...argv], { home, env });
    assert.deepEqual([code, stdout], [expected, ''], stderr);
    assert.match(stderr, text);
  }
});
