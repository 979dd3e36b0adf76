/** Tests that secrets are replaced in every form. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Redactor } from '../../runtime/deliver/redact.ts';
import { cpuTime } from '../helpers/cpu-time.ts';

describe('the redactor', () => {
  const redacting = (...secrets: string[]): Redactor => {
    const redactor = new Redactor();
    redactor.add(secrets);
    return redactor;
  };

  const cases: readonly (readonly [string, readonly string[], string, string])[] = [
    ['every occurrence', ['secret-1'], 'a secret-1 and secret-1secret-1', 'a *** and ******'],
    ['the longer of two that begin alike', ['abcdefgh', 'abcdefghij'], 'x abcdefghij y', 'x *** y'],
    ['two that overlap, as one', ['abcdefgh', 'efghijkl'], 'x abcdefghijkl y', 'x *** y'],
    ['one inside of another', ['abcdefghijkl', 'efghij'], 'abcdefghijkl', '***'],
    ['the beginning and the end of a text', ['abcdefgh'], 'abcdefgh', '***'],
    ['a form for URLs', ['p@ss/w&rd'], 'q=p%40ss%2Fw%26rd', 'q=***'],
    ['a form for JSON', ['line"break\n'], JSON.stringify({ a: 'line"break\n' }), '{"a":"***"}'],
    ['a form for Basic', ['secret-1'], Buffer.from('secret-1').toString('base64'), '***'],
    ['parts of a secret URL', ['https://x.example/hooks/T0123456789/abc'], '/T0123456789/', '/***/'],
    ['other scripts', ['пароль-一二三'], 'x пароль-一二三', 'x ***'],
    ['nothing of short words', ['push'], 'push', 'push'],
    ['nothing that only begins like one', ['abcdefgh'], 'abcdefg abcd', 'abcdefg abcd'],
  ];
  for (const [what, secrets, text, expected] of cases) {
    it(`replaces ${what}`, () => assert.equal(redacting(...secrets).redact(text), expected));
  }

  it('does not slow down with the number of secrets', () => {
    const many = redacting(...Array.from({ length: 10_000 }, (_, index) => `secret-number-${index}-${index * 7919}`));
    const line = JSON.stringify({ route: 'github', event: 'push', delivery_id: 'x'.repeat(100), outcome: 'accepted' });
    const ms = cpuTime(() => {
      for (let count = 0; count < 1000; count++) assert.equal(many.redact(line), line);
    });
    assert.ok(ms < 1000, `${ms} ms`);
  });
});
