import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { lowerDefaultSources } from '../../../compiler/lower/sources.ts';
import { linkAuthenticator } from '../../../runtime/verify/authenticator.ts';
import { LazyRequest } from '../../../runtime/verify/request.ts';
import { loadShippedSources } from '../../helpers/catalog-sources.ts';

const sources = loadShippedSources();
const defaults = lowerDefaultSources(sources.lowered);
const SECRET = 'a-secret-of-some-length';
const NOW = 1_700_000_000_000;
const BODY = '{"a":1}';

function request(headers: Record<string, string>, body = BODY): LazyRequest {
  const rawHeaders = Object.entries(headers).flat();
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return new LazyRequest({ method: 'POST', url: '/webhooks/r', headers: lower, rawHeaders, body: Buffer.from(body) });
}

function authenticator(
  schemes: readonly string[] = defaults.default_schemes,
  secrets = [{ text: SECRET, expires_at: null as number | null }],
) {
  const plans = schemes.map((name) => sources.plan(name));
  return linkAuthenticator({ schemes: plans, secrets, insecure: false, public_url: null });
}

const hmac = (text: string, encoding: 'hex' | 'base64', key: string | Buffer = SECRET): string =>
  createHmac('sha256', key).update(text).digest(encoding);
const v1 = { 'X-Webhook-Signature': hmac(BODY, 'hex') };
const v2 = { 'X-Webhook-Signature-V2': hmac(`1700000000.${BODY}`, 'hex'), 'X-Webhook-Timestamp': '1700000000' };
const github = { 'X-Hub-Signature-256': `sha256=${hmac(BODY, 'hex')}` };
const standard = (key: string | Buffer) => ({
  'webhook-id': 'msg_1',
  'webhook-timestamp': '1700000000',
  'webhook-signature': `v1,${hmac(`msg_1.1700000000.${BODY}`, 'base64', key)}`,
});

test('the header-driven choice and its headers are those of the specification', () => {
  assert.deepEqual(defaults.default_schemes, [
    'standard-webhooks',
    'svix',
    'github',
    'gitlab',
    'generic-v2',
    'generic-v1',
  ]);
  assert.deepEqual(
    defaults.default_event.map(({ name, path }) => name || path.join('.')),
    ['x-github-event', 'x-forgea-event', 'x-gitlab-event', 'x-forgeb-event', 'event_type', 'type'],
  );
  assert.deepEqual(
    defaults.default_delivery.map(({ name }) => name),
    ['x-github-delivery', 'x-forgea-delivery', 'svix-id', 'relay-id', 'webhook-id', 'x-request-id'],
  );
});

test('each scheme is recognised by its own signature header', () => {
  const cases: readonly [Record<string, string>, string][] = [
    [standard(SECRET), 'standard-webhooks'],
    [Object.fromEntries(Object.entries(standard(SECRET)).map(([k, v]) => [k.replace('webhook', 'svix'), v])), 'svix'],
    [github, 'github'],
    [{ 'X-Forgeb-Token': SECRET }, 'gitlab'],
    [{ 'X-Gitlab-Token': SECRET }, 'gitlab'],
    [v2, 'generic-v2'],
    [v1, 'generic-v1'],
  ];
  for (const [headers, scheme] of cases) {
    assert.deepEqual(authenticator().authenticate(request(headers), NOW), { ok: true, scheme, secret: 0 });
  }
});

test('the first signature header in catalog order decides: its failure is final', () => {
  const cases: readonly [Record<string, string>, string, string][] = [
    [{ ...v1, 'X-Webhook-Signature-V2': v2['X-Webhook-Signature-V2'] }, 'generic-v2', 'missing_timestamp'],
    [{ ...v1, ...v2, 'X-Webhook-Timestamp': '1600000000' }, 'generic-v2', 'stale_timestamp'],
    [{ ...github, 'webhook-signature': 'v1,AAAA' }, 'standard-webhooks', 'malformed_signature'],
    [{ ...github, 'webhook-signature': '' }, 'standard-webhooks', 'malformed_signature'],
    [{ ...v1, 'X-Gitlab-Token': 'wrong' }, 'gitlab', 'mismatch'],
  ];
  for (const [headers, scheme, reason] of cases) {
    assert.deepEqual(authenticator().authenticate(request(headers), NOW), { ok: false, scheme, reason });
  }
});

test('id and timestamp without a signature decide nothing', () => {
  const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': '1700000000', ...github };
  assert.deepEqual(authenticator().authenticate(request(headers), NOW), { ok: true, scheme: 'github', secret: 0 });
  const bare = { 'webhook-id': 'msg_1', 'webhook-timestamp': '1700000000' };
  assert.deepEqual(authenticator().authenticate(request(bare), NOW), {
    ok: false,
    scheme: null,
    reason: 'missing_signature',
  });
});

test('a scheme that the route does not accept decides nothing', () => {
  const narrowed = authenticator(['github', 'generic-v1']);
  const both = request({ ...standard(SECRET), 'webhook-signature': 'nonsense', ...v1 });
  assert.deepEqual(narrowed.authenticate(both, NOW), { ok: true, scheme: 'generic-v1', secret: 0 });
  assert.deepEqual(authenticator(['github']).authenticate(request(v1), NOW), {
    ok: false,
    scheme: 'github',
    reason: 'missing_signature',
  });
});

test('a Standard Webhooks secret is decoded with its prefix, raw or decoded without it', () => {
  const key = Buffer.from('0123456789abcdef0123456789abcdef');
  const text = key.toString('base64');
  const check = (secret: string, signedWith: string | Buffer): boolean =>
    authenticator(undefined, [{ text: secret, expires_at: null }]).authenticate(request(standard(signedWith)), NOW).ok;
  assert.equal(check(`whsec_${text}`, key), true);
  assert.equal(check(`whsec_${text}`, `whsec_${text}`), false);
  assert.equal(check(text, key), true);
  assert.equal(check(text, text), true);
  assert.equal(check('not base64!', 'not base64!'), true);
});

test('with several secrets the result has the matching one; an expired one is rejected', () => {
  const secrets = [
    { text: 'the-new-secret', expires_at: null },
    { text: SECRET, expires_at: NOW + 1 },
  ];
  const rotating = authenticator(undefined, secrets);
  assert.deepEqual(rotating.authenticate(request(v1), NOW), { ok: true, scheme: 'generic-v1', secret: 1 });
  assert.deepEqual(rotating.authenticate(request(v1), NOW + 1), {
    ok: false,
    scheme: 'generic-v1',
    reason: 'mismatch',
  });
});

test('an empty secret, or one that is not a key of the scheme, authenticates no request', () => {
  const empty = { 'X-Webhook-Signature': createHmac('sha256', '').update(BODY).digest('hex') };
  const none = authenticator(undefined, [{ text: '', expires_at: null }]);
  assert.deepEqual(none.authenticate(request(empty), NOW), {
    ok: false,
    scheme: 'generic-v1',
    reason: 'unusable_secret',
  });
  assert.deepEqual(none.unusable, [0]);
  assert.deepEqual(authenticator().unusable, []);
});

test('INSECURE_NO_AUTH accepts everything and reports that', () => {
  const open = linkAuthenticator({ schemes: [], secrets: [], insecure: true, public_url: null });
  assert.deepEqual(open.authenticate(request({}), NOW), { ok: true, scheme: 'none', secret: -1 });
});

test('a repeated header is rejected, however node presents it', () => {
  const signature = github['X-Hub-Signature-256'];
  const twice = new LazyRequest({
    method: 'POST',
    url: '/',
    headers: { 'x-hub-signature-256': signature },
    rawHeaders: ['X-Hub-Signature-256', signature, 'x-hub-signature-256', signature],
    body: Buffer.from(BODY),
  });
  assert.deepEqual(authenticator().authenticate(twice, NOW), {
    ok: false,
    scheme: 'github',
    reason: 'repeated_header',
  });
});

test('headers with the same length and last letter as those of a scheme are not confused', () => {
  const signature = github['X-Hub-Signature-256'];
  const alike = new LazyRequest({
    method: 'POST',
    url: '/',
    headers: { 'x-hub-signature-256': signature, 'x-fix-signature-256': 'other' },
    rawHeaders: ['X-Fix-Signature-256', 'other', 'X-Hub-Signature-256', signature, 'X-FIX-Signature-256', 'other'],
    body: Buffer.from(BODY),
  });
  assert.equal(authenticator().authenticate(alike, NOW).ok, true);
});
