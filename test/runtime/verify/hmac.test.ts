import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { HmacKey } from '../../../runtime/verify/primitives.ts';

const algorithm = fc.constantFrom('sha1', 'sha256', 'sha512');
const encoding = fc.constantFrom('hex', 'base64', 'base64url');
const bytes = (maxLength: number) => fc.uint8Array({ minLength: 1, maxLength }).map((array) => Buffer.from(array));
const text = (maxLength: number) => fc.uint8Array({ maxLength }).map((array) => Buffer.from(array).toString('latin1'));

test('digests are those of createHmac for keys and messages of any length, in pieces or whole', () => {
  fc.assert(
    fc.property(
      algorithm,
      encoding,
      bytes(300),
      text(50),
      bytes(4000),
      text(50),
      (name, form, key, head, body, tail) => {
        const mac = createHmac(name, key).update(head, 'latin1').update(body).update(tail, 'latin1');
        assert.equal(new HmacKey(name, key).digest({ head, body, tail }, form), mac.digest(form));
      },
    ),
    { seed: 1, numRuns: 300 },
  );
});

test('one key gives the same digest again, and the published one (RFC 4231 case 2)', () => {
  const key = new HmacKey('sha256', Buffer.from('Jefe'));
  const expected = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843';
  for (let round = 0; round < 3; round += 1) {
    assert.equal(
      key.digest({ head: 'what do ya want ', body: Buffer.from('for nothing'), tail: '?' }, 'hex'),
      expected,
    );
  }
  const nothing = { head: '', body: Buffer.alloc(0), tail: '' };
  assert.equal(key.digest(nothing, 'hex'), createHmac('sha256', 'Jefe').digest('hex'));
});
