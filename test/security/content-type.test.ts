/** Tests that a signed body has one meaning under any content type and scheme, because the content type is not signed. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseBody } from '../../runtime/intake/parse-body.ts';
import { SECRET } from '../helpers/route-table.ts';
import { answerOf, serve, signed } from '../helpers/serve.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const hmac = (text: string, encoding: 'hex' | 'base64' = 'hex'): string =>
  createHmac('sha256', SECRET).update(text).digest(encoding);

async function post(url: string, body: string, headers: Record<string, string>) {
  const all = { 'content-type': 'application/json', ...headers };
  const answer = await answerOf(await fetch(`${url}/webhooks/r`, { method: 'POST', headers: all, body }));
  return [answer.status, answer.body.code ?? answer.body.status];
}

test('signed JSON resent as a form is rejected', async (t) => {
  const { url } = await serve(t, { routes: { r: {} } });
  const body = JSON.stringify({ title: 'x&title=FORGED&event_type=forged&y=' });
  assert.deepEqual(await post(url, body, signed(body)), [202, 'accepted']);
  assert.deepEqual(await post(url, body, { ...signed(body), ...FORM }), [400, 'malformed_body']);
});

const OLD = Math.floor(Date.now() / 1000) - 86_400;

/** Signed contents of stale requests, resent as the body of a scheme that signs only the body. */
const CONTENTS: readonly (readonly [what: string, content: string])[] = [
  ['V2 over JSON', `${OLD}.${JSON.stringify({ a: 'x&title=FORGED' })}`],
  ['V2 over a form', `${OLD}.title=stale&event_type=forged`],
  ['Standard Webhooks over JSON', `msg_1.${OLD}.${JSON.stringify({ a: 'x&title=FORGED' })}`],
  ['Standard Webhooks over a form', `msg_1.${OLD}.title=stale&event_type=forged`],
];

for (const [what, content] of CONTENTS) {
  test(`a stale request (${what}) is rejected under a scheme that signs only the body`, async (t) => {
    const { url } = await serve(t, { routes: { r: {} } });
    for (const type of ['application/json', FORM['content-type']]) {
      const headers = { 'content-type': type };
      const asV1 = await post(url, content, { ...headers, 'x-webhook-signature': hmac(content) });
      assert.deepEqual(asV1, [400, 'malformed_body']);
      const asHub = await post(url, content, { ...headers, 'x-hub-signature-256': `sha256=${hmac(content)}` });
      assert.deepEqual(asHub, [400, 'malformed_body']);
    }
  });
}

/** V2's headers as proxies and CGI-like servers may spell them. */
const SPELLINGS = [
  'X-Webhook-Signature-V2',
  'X_Webhook_Signature_V2',
  'x-webhook-signature_v2',
  'X-Webhook-SignatureV2',
  'X.Webhook.Signature.V2',
  'X-Webhook-Timestamp',
  'X_WEBHOOK_TIMESTAMP',
];

test('a request with V2 headers in any spelling is never verified as V1', async (t) => {
  const { url, log } = await serve(t, { routes: { r: {}, one: { schemes: ['generic-v1'] } } });
  const body = '{"a":1}';
  assert.deepEqual(await post(url, body, { 'x-webhook-signature': hmac(body) }), [202, 'accepted']);
  for (const name of SPELLINGS) {
    const headers = { 'x-webhook-signature': hmac(body), [name]: String(OLD) };
    assert.deepEqual(await post(url, body, headers), [401, 'invalid_signature'], name);
    const only = await fetch(`${url}/webhooks/one`, { method: 'POST', headers, body });
    assert.equal(only.status, 401, name);
  }
  assert(log.lines.some(({ fields }) => fields.reason === 'stronger_scheme'));
});

test('no text is both JSON and a form', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      assert.notEqual(parseBody(FORM, Buffer.from(text)).fault, null, text);
    }),
    { numRuns: 300 },
  );
  const form = fc
    .array(fc.tuple(fc.string(), fc.string()), { minLength: 1 })
    .map((fields) => String(new URLSearchParams(fields)));
  fc.assert(
    fc.property(form, (text) => {
      if (parseBody(FORM, Buffer.from(text)).fault === null)
        assert.notEqual(parseBody({}, Buffer.from(text)).fault, null);
    }),
    { numRuns: 300 },
  );
});
