/** Tests that one valid signature among several is enough (decisions §4). */
import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { describe, it } from 'node:test';
import { linkAuthenticator } from '../../../runtime/verify/authenticator.ts';
import { LazyRequest, partsOf } from '../../../runtime/verify/request.ts';
import { loadShippedSources } from '../../helpers/catalog-sources.ts';
import { cpuTime } from '../../helpers/cpu-time.ts';

const sources = loadShippedSources();
const SECRET = 'the-secret';
const NOW = 1_700_000_000_000;
const BODY = '{"a":1}';
const SECONDS = '1700000000';

function judge(scheme: string, headers: Readonly<Record<string, string>>, secret = SECRET, body = BODY): string {
  const plan = { schemes: [sources.plan(scheme)], secrets: [{ text: secret, expires_at: null }] };
  const authenticator = linkAuthenticator({ ...plan, insecure: false, public_url: null });
  const parts = partsOf('POST', '/r', Object.entries(headers), Buffer.from(body));
  const verification = authenticator.authenticate(new LazyRequest(parts), NOW);
  return verification.ok ? 'ok' : verification.reason;
}

const hmac = (text: string, encoding: 'hex' | 'base64'): string =>
  createHmac('sha256', SECRET).update(text).digest(encoding);
const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const PUBLIC = `whpk_${publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64')}`;
const signed = `m.${SECONDS}.${BODY}`;

/** How each sender lists its signatures: the header for a list, and a valid signature. */
const LISTS = {
  'standard-webhooks': {
    list: (parts: readonly string[]) => ({ ...ids('webhook'), 'webhook-signature': parts.join(' ') }),
    right: `v1,${hmac(signed, 'base64')}`,
    wrong: `v1,${hmac('x', 'base64')}`,
    impossible: [
      'v1,AAAA',
      'v1,',
      'v1',
      '',
      ',',
      'v1,éé',
      `v1,${hmac(signed, 'base64').slice(0, -1)}`,
      'v2,AAAA',
      '\t',
    ],
    secret: SECRET,
  },
  svix: {
    list: (parts: readonly string[]) => ({ ...ids('svix'), 'svix-signature': parts.join(' ') }),
    right: `v1,${hmac(signed, 'base64')}`,
    wrong: `v1,${hmac('x', 'base64')}`,
    impossible: ['v1,AAAA', 'v1a,AAAA', 'v1,====', 'nonsense'],
    secret: SECRET,
  },
  'standard-webhooks-v1a': {
    list: (parts: readonly string[]) => ({ ...ids('webhook'), 'webhook-signature': parts.join(' ') }),
    right: `v1a,${sign(null, Buffer.from(signed), privateKey).toString('base64')}`,
    wrong: `v1a,${sign(null, Buffer.from('x'), privateKey).toString('base64')}`,
    impossible: ['v1a,AAAA', 'v1a,', `v1,${hmac(signed, 'base64')}`],
    secret: PUBLIC,
  },
  stripe: {
    list: (parts: readonly string[]) => ({ 'Stripe-Signature': [`t=${SECONDS}`, ...parts].join(',') }),
    right: `v1=${hmac(`${SECONDS}.${BODY}`, 'hex')}`,
    wrong: `v1=${hmac('x', 'hex')}`,
    impossible: ['v1=00', 'v1=', 'v1', '', 'v0=abc', `v1=${'z'.repeat(64)}`],
    secret: SECRET,
  },
  paddle: {
    list: (parts: readonly string[]) => ({ 'Paddle-Signature': [`ts=${SECONDS}`, ...parts].join(';') }),
    right: `h1=${hmac(`${SECONDS}:${BODY}`, 'hex')}`,
    wrong: `h1=${hmac('x', 'hex')}`,
    impossible: ['h1=00', 'h1=', 'h2=abc', ''],
    secret: SECRET,
  },
} as const;

const ids = (name: string) => ({ [`${name}-id`]: 'm', [`${name}-timestamp`]: SECONDS });

for (const [scheme, { list, right, wrong, impossible, secret }] of Object.entries(LISTS)) {
  describe(`several signatures of ${scheme}`, () => {
    const of = (...parts: string[]): string => judge(scheme, list(parts), secret);
    it('a malformed one is ignored, before and after the valid one', () => {
      for (const part of impossible) {
        assert.equal(of(part, right), 'ok', part);
        assert.equal(of(right, part), 'ok', part);
        assert.equal(of(wrong, part, right), 'ok', part);
      }
      assert.equal(of(...impossible, right), 'ok');
    });
    it('is rejected if none is valid', () => {
      assert.equal(of(wrong, wrong), 'mismatch');
      for (const part of impossible) assert.equal(of(wrong, part), 'mismatch', part);
      assert.notEqual(of(...impossible), 'ok');
    });
    it('a hostile list is cheap to reject', () => {
      const separator = list(['', '']);
      assert.ok(separator);
      const many = (part: string) => Array.from({ length: Math.floor(8000 / (part.length + 1)) }, () => part);
      for (const part of [wrong, ...impossible]) {
        const headers = list([...many(part), right]);
        const ms = cpuTime(() => {
          for (let count = 0; count < 20; count++) judge(scheme, headers, secret);
        });
        assert.ok(ms < 200, `${ms / 20} ms for ${part}`);
      }
    });
  });
}

it('a malformed one of several headers of a sender is ignored', () => {
  const at = '2023-11-14T22:13:20Z';
  const primary = hmac(BODY + at, 'base64');
  const sent = { 'BOX-DELIVERY-TIMESTAMP': at, 'BOX-SIGNATURE-VERSION': '1', 'BOX-SIGNATURE-ALGORITHM': 'HmacSHA256' };
  assert.equal(judge('box', { ...sent, 'BOX-SIGNATURE-PRIMARY': 'AAAA', 'BOX-SIGNATURE-SECONDARY': primary }), 'ok');
  assert.equal(
    judge('box', { ...sent, 'BOX-SIGNATURE-PRIMARY': 'AAAA', 'BOX-SIGNATURE-SECONDARY': 'AAAA' }),
    'malformed_signature',
  );
});

it('a sender with one signature accepts no list', () => {
  const right = hmac(BODY, 'hex');
  for (const value of [`sha256=00 sha256=${right}`, `sha256=00, sha256=${right}`, `sha256=${right}, sha256=00`])
    assert.equal(judge('github', { 'X-Hub-Signature-256': value }), 'malformed_signature');
});
