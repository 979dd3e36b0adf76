import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { test } from 'node:test';
import { parseBody } from '../../../runtime/intake/parse-body.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const parse = (headers: IncomingHttpHeaders, body: string | Buffer) => {
  const { payload, fault } = parseBody(headers, Buffer.from(body));
  return fault ?? payload;
};

const cases: readonly (readonly [
  name: string,
  headers: IncomingHttpHeaders,
  body: string | Buffer,
  result: unknown,
])[] = [
  ['JSON without a content type', {}, '{"a":1}', { a: 1 }],
  ['application/json', { 'content-type': 'application/json' }, '[1]', [1]],
  ['application/json with parameters', { 'content-type': 'Application/JSON; charset=utf-8' }, '1', 1],
  ['a +json type', { 'content-type': 'application/cloudevents+json; charset=utf-8' }, '{}', {}],
  ['an empty content type', { 'content-type': '' }, '{}', {}],
  ['JSON that is called plain text', { 'content-type': 'text/plain; charset=UTF-8' }, '{"a":1}', { a: 1 }],
  ['text that is not JSON', { 'content-type': 'text/plain' }, 'hello', 'not_json'],
  ['HTML', { 'content-type': 'text/html' }, '{}', 'content_type'],
  ['identity encoding', { 'content-encoding': 'Identity' }, '{}', {}],
  ['a form with a payload field', FORM, 'payload=%7B%22a%22%3A+1%7D', { a: 1 }],
  ['a form of several fields', FORM, 'From=%2B49&Body=Gr%C3%BC%C3%9Fe+%26+more', { From: '+49', Body: 'Grüße & more' }],
  ['a form whose payload field is one of several', FORM, 'payload=%7B%7D&x=1', { payload: '{}', x: '1' }],
  ['a form with a repeated field', FORM, 'a=1&a=2', { a: '2' }],
  ['a stray percent sign', FORM, 'a=100%&b=%zz', { a: '100%', b: '%zz' }],
  ['an empty body', {}, '', 'empty'],
  ['an empty form', FORM, '', 'empty'],
  ['a form whose payload is not JSON', FORM, 'payload=hello', 'not_json'],
  ['a form whose payload is empty', FORM, 'payload=', 'empty'],
  ['a form with percent-encoded Latin-1', FORM, 'a=Z%FCrich', 'not_utf8'],
  ['a form of Latin-1 bytes', FORM, Buffer.from('a=Z\xfcrich', 'latin1'), 'not_utf8'],
  ['a form of very many fields', FORM, 'a&'.repeat(20_000), 'too_many_fields'],
  ['a form whose first name is escaped', FORM, 'entry%5B0%5D.a=1', { 'entry[0].a': '1' }],
  ['a form whose first name has no value', FORM, 'a&b=1', { a: '', b: '1' }],
  ['JSON that is called a form', FORM, '{"title":"x&title=FORGED&y":1}', 'no_form'],
  ['a JSON list that is called a form', FORM, '["a=b"]', 'no_form'],
  ['a JSON text that is a word and called a form', FORM, 'true', 'no_form'],
  ['a form whose first name begins with a digit', FORM, '1700000000.a=b', 'no_form'],
  ['a form behind an id and an instant', FORM, 'msg_1.1700000000.a=b', 'no_form'],
  ['a form whose first name is a stray percent sign', FORM, '%zz=1', 'no_form'],
  ['a form whose first name is endless', FORM, `${'a'.repeat(300)}=1`, 'no_form'],
  ['XML', { 'content-type': 'application/xml' }, '<a/>', 'content_type'],
  ['multipart', { 'content-type': 'multipart/form-data; boundary=x' }, '--x--', 'content_type'],
  ['a type that only mentions JSON', { 'content-type': 'application/json-seq' }, '{}', 'content_type'],
];

for (const [name, headers, body, result] of cases) {
  test(`${typeof result === 'string' ? 'rejects' : 'parses'} ${name}`, () => {
    assert.deepEqual(parse(headers, body), result);
  });
}

for (const charset of ['windows-1252', 'ISO-8859-1', 'cp1252', 'latin1', 'us-ascii']) {
  test(`reads ${charset} as windows-1252, all bytes included`, () => {
    const type = `application/json; charset=${charset}`;
    const high = Buffer.from(Array.from({ length: 128 }, (_, at) => 128 + at));
    const body = Buffer.concat([Buffer.from('{"a":"'), high, Buffer.from('"}')]);
    const { a } = parse({ 'content-type': type }, body) as { a: string };
    assert.equal(a.slice(0, 32), '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ');
    assert.equal(a.slice(32), high.subarray(32).toString('latin1'));
    const form = parse({ 'content-type': `${FORM['content-type']}; charset=${charset}` }, 'a=%80+%92');
    assert.deepEqual(form, { a: '€ ’' });
  });
}

test('a form field named __proto__ is a plain key', () => {
  const payload = parse(FORM, '__proto__=x&a=1') as Record<string, unknown>;
  assert.deepEqual(Object.entries(payload), [
    ['__proto__', 'x'],
    ['a', '1'],
  ]);
});

test('the body format of the source takes precedence over the content type', () => {
  const read = (format: 'json' | 'form' | 'text' | 'xml', headers: IncomingHttpHeaders, body: string | Buffer) => {
    const { payload, fault } = parseBody(headers, Buffer.from(body), format);
    return fault ?? payload;
  };
  assert.deepEqual(read('json', FORM, '{"a":1}'), { a: 1 });
  assert.deepEqual(read('form', { 'content-type': 'application/json' }, 'a=1'), { a: '1' });
  assert.deepEqual(read('text', { 'content-type': 'text/html' }, 'Grüße'), { text: 'Grüße' });
  assert.deepEqual(read('xml', {}, '<a>1</a>'), { a: '1' });
  assert.equal(read('text', {}, ''), 'empty');
  assert.equal(read('xml', {}, Buffer.from([0x3c, 0xff])), 'not_utf8');
});
