import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runInProcess, startInProcess } from '../../helpers/cli.ts';
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
const JSON_TYPE = { 'content-type': 'application/json' };
const verification = { method: 'POST', headers: JSON_TYPE, body: JSON.stringify({ verification_token: TOKEN }) };

function event(secret: string): RequestInit {
  const body = '{"type":"page.created","id":"e-1"}';
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  return { method: 'POST', body, headers: { ...JSON_TYPE, 'x-notion-signature': signature } };
}

test('the secret of a handshake is stored and used at once, but only while the command waits', async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, 'config.yaml'), CONFIG, { mode: 0o600 });
  const early = await runInProcess(['source', 'enroll', 'pages'], { home, env });
  assert.equal(early.code, 1);
  const file = join(home, 'secrets/pages');
  assert.equal(statSync(file).mode & 0o777, 0o600);

  const gateway = await startGateway(t, { home, env, config: CONFIG });
  const url = `${gateway.url}/webhooks/pages`;
  assert.equal((await fetch(url, verification)).status, 401);
  const waiting = startInProcess(['source', 'enroll', 'pages'], { home, env });
  await until(async () => waiting.stderr().includes('notion'));
  await until(async () => (await fetch(url, verification)).status === 200);
  const { code, stdout } = await waiting.done;
  assert.deepEqual([code, stdout], [0, `${file}\n`]);
  assert.equal(readFileSync(file, 'utf8'), `${TOKEN}\n`);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal((await sendAgain(url, event(TOKEN))).status, 202);
  assert.equal((await fetch(url, verification)).status, 401);
  assert.ok(!gateway.running.stderr().includes(TOKEN));
});

test('routes whose sender sends no secret, or whose secret is not a file, are rejected with a hint', async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, 'config.yaml'), CONFIG.replace('"file:secrets/pages"', 'env:WEBHOOK_SECRET'), {
    mode: 0o600,
  });
  const cases: readonly (readonly [string[], number, RegExp])[] = [
    [['pulls'], 1, /\n.*asana, notion/],
    [['pages'], 1, /\n.*secret: file:secrets\/pages/],
    [['unknown'], 1, /"unknown"/],
    [['pages', '--timeout', 'soon'], 2, /--timeout/],
  ];
  for (const [argv, expected, text] of cases) {
    const { code, stderr, stdout } = await runInProcess(['source', 'enroll', ...argv], { home, env });
    assert.deepEqual([code, stdout], [expected, ''], stderr);
    assert.match(stderr, text);
  }
});
