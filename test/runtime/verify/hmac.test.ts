import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { HmacKey } from '../../../runtime/verify/hmac.ts';

const algorithm = fc.constantFrom('sha1', 'sha256', 'sha512');
const encoding = fc.constantFrom('hex', 'base64', 'base64url');
const bytes = (maxLength: number) => fc.uint8Array({ minLength: 1, maxLength }).map((array) => Buffer.from(array));

test('digests are those of createHmac for keys and messages of any length, in pieces or whole', () => {
  fc.assert(
    fc.property(algorithm, encoding, bytes(300), bytes(4000), bytes(50), (name, form, key, body, head) => {
      const text = head.toString('latin1');
      const expected = createHmac(name, key).update(text, 'latin1').update(body).digest(form);
      assert.equal(new HmacKey(name, key).digest([text, body], form), expected);
    }),
    { seed: 1, numRuns: 300 },
  );
});

test('one key gives the same digest again, and the published one (RFC 4231 case 2)', () => {
  const key = new HmacKey('sha256', Buffer.from('Jefe'));
  const expected = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843';
  for (let round = 0; round < 3; round += 1) {
    assert.equal(key.digest(['what do ya want ', Buffer.from('for nothing?')], 'hex'), expected);
  }
  assert.equal(key.digest([], 'hex'), createHmac('sha256', 'Jefe').digest('hex'));
});
