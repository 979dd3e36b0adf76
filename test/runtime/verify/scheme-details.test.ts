/** Tests details that only single sources need. */
import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { test } from 'node:test';
import { linkAuthenticator } from '../../../runtime/verify/authenticator.ts';
import type { RequestParts } from '../../../runtime/verify/request.ts';
import { LazyRequest } from '../../../runtime/verify/request.ts';
import type { Verification } from '../../../runtime/verify/verification.ts';
import type { SchemePlan } from '../../../schemas/generated/types.ts';
import { loadShippedSources } from '../../helpers/catalog-sources.ts';

const sources = loadShippedSources();
const SECRET = 'the-secret';
const NOW = 1_700_000_000_000;

interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly url?: string;
  readonly publicUrl?: string | null;
}

function verdictOf(
  names: readonly string[] | SchemePlan,
  { headers = {}, body = '', url = '/r', publicUrl = null }: Sent,
): Verification {
  const schemes = 'verify' in names ? [names] : names.map((name) => sources.plan(name));
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const parts: RequestParts = {
    method: 'POST',
    url,
    headers: lower,
    rawHeaders: Object.entries(headers).flat(),
    body: Buffer.from(body),
  };
  const plan = { schemes, secrets: [{ text: SECRET, expires_at: null }], insecure: false, public_url: publicUrl };
  return linkAuthenticator(plan).authenticate(new LazyRequest(parts), NOW);
}

const hmac = (text: string, algorithm = 'sha256', encoding: 'hex' | 'base64' = 'hex'): string =>
  createHmac(algorithm, SECRET).update(text).digest(encoding);
const reasonOf = (verdict: Verification): string => (verdict.ok ? `ok by ${verdict.scheme}` : verdict.reason);

const TWILIO = ['twilio-json', 'twilio'];
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const twilio = (signed: string) => ({ 'X-Twilio-Signature': hmac(signed, 'sha1', 'base64') });

test('Twilio: the URL decides between both kinds of body on one route', () => {
  const publicUrl = 'https://example.test/r';
  const form = { headers: { ...FORM, ...twilio(`${publicUrl}A1B2`) }, body: 'B=2&A=1', publicUrl };
  assert.equal(reasonOf(verdictOf(TWILIO, form)), 'ok by twilio');
  const body = '{"a":1}';
  const query = `?bodySHA256=${createHash('sha256').update(body).digest('hex')}`;
  const json = { headers: twilio(publicUrl + query), body, url: `/r${query}`, publicUrl };
  assert.equal(reasonOf(verdictOf(TWILIO, json)), 'ok by twilio-json');
  assert.equal(reasonOf(verdictOf(TWILIO, { ...json, body: '{"a":2}' })), 'body_mismatch');
});

test('Twilio: either side may include the default port, and the sender may leave out any port', () => {
  for (const [configured, signed] of [
    ['https://example.test/r', 'https://example.test:443/r'],
    ['https://example.test:443/r', 'https://example.test/r'],
    ['http://user:pw@example.test/r', 'http://user:pw@example.test:80/r'],
    ['https://[::1]/r', 'https://[::1]:443/r'],
    ['https://example.test:8443/r', 'https://example.test/r'],
    ['https://example.test:8443/r', 'https://example.test:8443/r'],
    ['http://user:pw@[::1]:8080/r', 'http://user:pw@[::1]/r'],
  ] as const) {
    const given = { headers: { ...FORM, ...twilio(`${signed}A1`) }, body: 'A=1', publicUrl: configured };
    assert.equal(reasonOf(verdictOf(['twilio'], given)), 'ok by twilio', configured);
  }
  const other = {
    headers: { ...FORM, ...twilio('https://example.test:8443/rA1') },
    body: 'A=1',
    publicUrl: 'https://example.test/r',
  };
  assert.equal(reasonOf(verdictOf(['twilio'], other)), 'mismatch');
});

test('Twilio: a signature over the URL alone never covers a body that is not a form', () => {
  const publicUrl = 'https://example.test/r';
  const replayed = { headers: twilio(publicUrl), body: '{"forged":true}', publicUrl };
  assert.equal(reasonOf(verdictOf(TWILIO, replayed)), 'unreadable_body');
});

test('a scheme that signs the URL rejects everything while the URL is unknown', () => {
  const headers = { 'x-square-hmacsha256-signature': hmac('{}', 'sha256', 'base64') };
  assert.equal(reasonOf(verdictOf(['square'], { headers, body: '{}' })), 'no_public_url');
});

test('HubSpot: escapes of punctuation in the query are decoded, others stay', () => {
  const publicUrl = 'https://example.test/r';
  const signed = `POST${publicUrl}?a=b:c/d&e=%26%25{}1700000000000`;
  const headers = {
    'X-HubSpot-Signature-V3': hmac(signed, 'sha256', 'base64'),
    'X-HubSpot-Request-Timestamp': '1700000000000',
  };
  assert.equal(
    reasonOf(verdictOf(['hubspot'], { headers, body: '{}', url: '/r?a=b%3Ac%2Fd&e=%26%25', publicUrl })),
    'ok by hubspot',
  );
});

test('Linear: the time in the body is checked only after the signature', () => {
  const body = (at: number): string => JSON.stringify({ webhookTimestamp: at });
  const fresh = { headers: { 'Linear-Signature': hmac(body(NOW)) }, body: body(NOW) };
  assert.equal(reasonOf(verdictOf(['linear'], fresh)), 'ok by linear');
  const old = body(NOW - 61_000);
  assert.equal(
    reasonOf(verdictOf(['linear'], { headers: { 'Linear-Signature': hmac(old) }, body: old })),
    'stale_timestamp',
  );
  assert.equal(reasonOf(verdictOf(['linear'], { headers: { 'Linear-Signature': hmac('x') }, body: old })), 'mismatch');
});

test('Mailgun: a signature in the body, in either case of hex, but not with characters beyond a byte', () => {
  const right = hmac('1700000000token');
  const mailgun = (signature: string): string => {
    const body = JSON.stringify({ signature: { timestamp: '1700000000', token: 'token', signature } });
    return reasonOf(verdictOf(['mailgun'], { body }));
  };
  assert.equal(mailgun(right), 'ok by mailgun');
  assert.equal(mailgun(right.toUpperCase()), 'ok by mailgun');
  const wide = String.fromCharCode(right.charCodeAt(0) + 0x100);
  assert.equal(mailgun(wide + right.slice(1)), 'malformed_signature');
});

test('a body that the template names twice is signed twice', () => {
  const body = { kind: 'body', value: [] } as const;
  const plan: SchemePlan = {
    ...sources.plan('github'),
    signed: [body, { kind: 'text', value: [' – '] }, body] as unknown as SchemePlan['signed'],
  };
  const headers = { 'X-Hub-Signature-256': `sha256=${hmac('grün – grün')}` };
  assert.equal(reasonOf(verdictOf(plan, { headers, body: 'grün' })), 'ok by github');
});

test('ISO times: any fraction and offset, but no similar text', () => {
  const zendesk = (at: string): string => {
    const headers = {
      'X-Zendesk-Webhook-Signature': hmac(`${at}{}`, 'sha256', 'base64'),
      'X-Zendesk-Webhook-Signature-Timestamp': at,
    };
    return reasonOf(verdictOf(['zendesk'], { headers, body: '{}' }));
  };
  for (const at of ['2023-11-14T22:13:20Z', '2023-11-14T22:13:20.123456789Z', '2023-11-15T00:13:20+02:00']) {
    assert.equal(zendesk(at), 'ok by zendesk', at);
  }
  for (const at of [
    '2023-11-14',
    '2023-11-14 22:13:20',
    'Tue, 14 Nov 2023 22:13:20 GMT',
    '2023-13-14T22:13:20Z',
    '1700000000',
  ]) {
    assert.equal(zendesk(at), 'bad_timestamp', at);
  }
});

test('paths into a body follow only own properties', () => {
  const plan: SchemePlan = {
    ...sources.plan('figma'),
    signature: [{ in: 'json', name: '', path: ['__proto__', 'toString', 'name'], split: '', prefix: '' }],
  };
  assert.equal(reasonOf(verdictOf(plan, { body: '{}' })), 'missing_credential');
  assert.equal(reasonOf(verdictOf(['figma'], { body: '{"passcode":"the-secret"}' })), 'ok by figma');
  assert.equal(reasonOf(verdictOf(['figma'], { body: '["passcode"]' })), 'missing_credential');
});

test('Basic credentials: exact bytes, including a colon in the password, with or without padding', () => {
  const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
  const plan = { ...sources.plan('basic') };
  const accepts = (header: string): boolean => verdictOf(plan, { headers: { Authorization: header } }).ok;
  assert.equal(accepts(basic(SECRET)), true);
  assert.equal(accepts(basic(`${SECRET} `)), false);
  const text = Buffer.from(SECRET).toString('base64');
  const bare = text.replace(/=+$/, '');
  assert.notEqual(bare, text);
  for (const right of [`Basic ${bare}`, `basic ${text}`, `BASIC   ${bare}`, `bAsIc \t${text}`])
    assert.equal(accepts(right), true, right);
  for (const wrong of [`Basic${text}`, `Basics ${text}`, text, 'Basic', 'Basic ', `Basic ${bare}A`, `Basic =${text}`])
    assert.equal(accepts(wrong), false, wrong);
  assert.equal(accepts(`Bearer ${SECRET}`), false);
});

test('the scheme of `Authorization` counts in any case and before several blanks, also in a custom source', () => {
  const custom = (prefix: string, name: string): SchemePlan => ({
    ...sources.plan('bearer'),
    signature: [{ in: 'header', name, path: [], split: '', prefix }],
  });
  const accepts = (prefix: string, value: string, header = 'Authorization'): boolean =>
    verdictOf(custom(prefix, header.toLowerCase()), { headers: { [header]: value } }).ok;
  for (const value of [`Bearer ${SECRET}`, `bearer ${SECRET}`, `BEARER    ${SECRET}`, `bearer\t${SECRET}`])
    assert.equal(accepts('Bearer ', value), true, value);
  for (const value of [`Bearer${SECRET}`, `Bearers ${SECRET}`, `Basic ${SECRET}`, SECRET, `Bearer Bearer ${SECRET}`])
    assert.equal(accepts('Bearer ', value), false, value);
  assert.equal(accepts('Hook key=', `hook  key=${SECRET}`), true);
  assert.equal(accepts('Hook key=', `hook  KEY=${SECRET}`), false);
  assert.equal(accepts('', SECRET), true);
  // Other headers have no such scheme.
  assert.equal(accepts('Bearer ', `bearer ${SECRET}`, 'X-Token'), false);
});

test('a token beyond ASCII is compared as the bytes on the wire', () => {
  const text = 'pässwörd';
  const plan = {
    schemes: [sources.plan('gitlab')],
    secrets: [{ text, expires_at: null }],
    insecure: false,
    public_url: null,
  };
  const wire = Buffer.from(text, 'utf8').toString('latin1');
  const send = (value: string): boolean => {
    const parts = {
      method: 'POST',
      url: '/',
      headers: { 'x-gitlab-token': value },
      rawHeaders: ['X-Gitlab-Token', value],
      body: Buffer.alloc(0),
    };
    return linkAuthenticator(plan).authenticate(new LazyRequest(parts), NOW).ok;
  };
  assert.equal(send(wire), true);
  assert.equal(send(text), false);
});
