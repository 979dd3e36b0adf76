/** Tests the same vectors, and unusual headers of proxies, over a real connection and through all stages. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { request } from 'node:http';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { linkAuthenticator } from '../../../runtime/verify/authenticator.ts';
import { loadShippedSources } from '../../helpers/catalog-sources.ts';
import { SECRET } from '../../helpers/route-table.ts';
import type { Served } from '../../helpers/serve.ts';
import { sendRaw, serve, signed } from '../../helpers/serve.ts';
import type { Vector } from '../../helpers/vectors.ts';
import { STATED_REASONS, vectorRequest, vectors } from '../../helpers/vectors.ts';

const sources = loadShippedSources();

/** A secret that is not a valid key prevents the start: such vectors are tested without a server. */
const servable = vectors.filter(({ scheme, secret }) => {
  const secrets = [{ text: secret, expires_at: null }];
  const plan = { schemes: [sources.plan(scheme)], secrets, insecure: false, public_url: 'https://example.test' };
  return linkAuthenticator(plan).unusable.length === 0;
});

function send(port: number, path: string, vector: Vector): Promise<number> {
  const { method, headers, body } = vectorRequest(vector);
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

test('valid vectors pass the signature stage, invalid ones get 401 and their reason in the log', async (t) => {
  let now = 0;
  const routes = Object.fromEntries(
    servable.map((vector, index) => {
      const { name } = sources.plan(vector.scheme);
      const secrets = [{ ref: { kind: 'literal' as const, value: vector.secret, scope: 'default' }, expires_at: null }];
      return [`v${index}`, { source: name, schemes: [name], secrets, public_url: vector.url ?? null }];
    }),
  );
  const { port, log } = await serve(t, { routes }, { clock: { ...systemClock, now: () => now } });
  for (const [index, vector] of servable.entries()) {
    now = (vector.now ?? 0) * 1000;
    log.lines.length = 0;
    const status = await send(port, `/webhooks/v${index}${vectorRequest(vector).url.slice(1)}`, vector);
    const { reason } = log.lines.find(({ fields }) => fields.route === `v${index}`)?.fields ?? {};
    const about = `${vector.scheme}: ${vector.description}: ${status} ${reason}`;
    if (vector.valid) assert.ok(status !== 401 && status < 500, about);
    else if (vector.reason === 'wrong-method') assert.equal(status, 405, about);
    else {
      assert.equal(status, 401, about);
      assert.ok(STATED_REASONS[vector.reason ?? '']?.includes(String(reason)), about);
    }
  }
});

test('most vectors can be served', () => {
  assert.ok(servable.length > 0.98 * vectors.length, `${servable.length} of ${vectors.length}`);
});

const BODY = '{"action":"opened"}';
const GOOD = signed(BODY)['x-hub-signature-256'] ?? '';
const long = (length: number): string => 'a'.repeat(length);

/** Each is a genuine delivery that was changed in transit. */
const ODDITIES: readonly {
  readonly what: string;
  readonly lines: readonly string[];
  readonly status: number;
  readonly reason?: string;
}[] = [
  { what: 'untouched', lines: [`X-Hub-Signature-256: ${GOOD}`], status: 202 },
  { what: 'spaces and tabs around the value', lines: [`X-Hub-Signature-256: \t ${GOOD} \t`], status: 202 },
  {
    what: 'a repeated header',
    lines: [`X-Hub-Signature-256: ${GOOD}`, `x-hub-signature-256: ${GOOD}`],
    status: 401,
    reason: 'repeated_header',
  },
  {
    what: 'two headers joined into one',
    lines: [`X-Hub-Signature-256: ${GOOD}, ${GOOD}`],
    status: 401,
    reason: 'malformed_signature',
  },
  { what: 'a folded header', lines: ['X-Hub-Signature-256: sha256=', ` ${GOOD.slice(7)}`], status: 400 },
  {
    what: 'Latin-1 bytes',
    lines: [`X-Hub-Signature-256: ${GOOD.slice(0, -1)}\xe9`],
    status: 401,
    reason: 'malformed_signature',
  },
  { what: 'a NUL byte', lines: [`X-Hub-Signature-256: ${GOOD}\0`], status: 400 },
  { what: '9 KB', lines: [`X-Hub-Signature-256: sha256=${long(9000)}`], status: 401, reason: 'oversized_header' },
  { what: '16 KB', lines: [`X-Hub-Signature-256: sha256=${long(16_384)}`], status: 431 },
  { what: 'an empty header', lines: ['X-Hub-Signature-256:'], status: 401, reason: 'malformed_signature' },
  {
    what: 'quotes around the value',
    lines: [`X-Hub-Signature-256: "${GOOD}"`],
    status: 401,
    reason: 'malformed_signature',
  },
  { what: '3,000 parts', lines: [`webhook-signature: ${'v1,a '.repeat(1500)}`], status: 401, reason: 'too_many_parts' },
  { what: '10,000 parts', lines: [`webhook-signature: ${'a '.repeat(10_000)}`], status: 431 },
  {
    what: 'an underscore instead of the dash',
    lines: [`X_Hub_Signature_256: ${GOOD}`],
    status: 401,
    reason: 'missing_signature',
  },
];

async function sendOddity({ port }: Served, lines: readonly string[]): Promise<number> {
  const head = [
    'POST /webhooks/r HTTP/1.1',
    'Host: x',
    'Connection: close',
    `Content-Length: ${BODY.length}`,
    ...lines,
  ];
  const answer = await sendRaw(port, [Buffer.from(`${head.join('\r\n')}\r\n\r\n${BODY}`, 'latin1')]);
  return Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
}

test('headers changed by proxies are rejected with a reason, and cause no internal error', async (t: TestContext) => {
  const served = await serve(t, { routes: { r: {} } });
  for (const { what, lines, status, reason } of ODDITIES) {
    served.log.lines.length = 0;
    assert.equal(await sendOddity(served, lines), status, what);
    const logged = served.log.lines.find(({ fields }) => fields.route === 'r')?.fields.reason;
    if (reason !== undefined) assert.equal(logged, reason, what);
  }
});

test('unsigned handshakes are answered before the signature check, signed ones after it', async (t) => {
  const secret = { ref: { kind: 'literal' as const, value: SECRET, scope: 'default' }, expires_at: null };
  const route = (name: string, more = {}) => ({ source: name, schemes: [name], secrets: [secret], ...more });
  const routes = {
    meta: route('meta', { verify_token: { kind: 'literal', value: 'word', scope: 'default' } }),
    trello: route('trello', { public_url: 'https://example.test/r' }),
    slack: route('slack'),
    plain: {},
  };
  const { url, dispatcher } = await serve(t, { routes });
  const query = '?hub.mode=subscribe&hub.verify_token=word&hub.challenge=c-1';
  const answer = await fetch(`${url}/webhooks/meta${query}`);
  assert.deepEqual([answer.status, await answer.text()], [200, 'c-1']);
  assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
  assert.equal((await fetch(`${url}/webhooks/meta${query.replace('word', 'other')}`)).status, 405);
  assert.equal((await fetch(`${url}/webhooks/trello`, { method: 'HEAD' })).status, 200);
  assert.equal((await fetch(`${url}/webhooks/plain${query}`)).status, 405);

  const body = '{"type":"url_verification","challenge":"c-2"}';
  const at = String(Math.floor(Date.now() / 1000));
  const signature = `v0=${createHmac('sha256', SECRET).update(`v0:${at}:${body}`).digest('hex')}`;
  const slack = (sent: string) =>
    fetch(`${url}/webhooks/slack`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', 'x-slack-request-timestamp': at, 'x-slack-signature': sent },
    });
  const signedAnswer = await slack(signature);
  assert.deepEqual([signedAnswer.status, await signedAnswer.text()], [200, 'c-2']);
  assert.equal((await slack('v0=00')).status, 401);
  assert.equal(dispatcher.handed.length, 0, 'a handshake is not an event');
});

test('secrets never reach the log', async (t) => {
  const served = await serve(t, { routes: { r: {} } });
  await served.post('/webhooks/r', BODY);
  await served.post('/webhooks/r', BODY, { 'x-hub-signature-256': 'sha256=00' });
  const text = JSON.stringify(served.log.lines);
  assert.ok(!text.includes(SECRET) && !text.includes(GOOD.slice(7)));
});
