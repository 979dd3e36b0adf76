/** Tests bodies and ids from a hostile or faulty sender with a valid signature. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lowerEvents } from '../../../compiler/lower/route.ts';
import { lowerTemplate } from '../../../compiler/lower/template.ts';
import { answerOf, sendRaw, serve, signed } from '../../helpers/serve.ts';

const template = (text: string) => lowerTemplate(text).plan ?? [];
const ECHO = { routes: { ci: { prompt: template('{a} {0.b} {__proto__.admin} {constructor.name} {length}') } } };

const bodies: readonly (readonly [name: string, body: string | Buffer, status: number, prompt?: string])[] = [
  ['a truncated object', '{"a":', 400],
  ['nothing', '', 400],
  ['Latin-1', Buffer.from('{"a":"\xe9"}', 'latin1'), 400],
  ['201 levels', '['.repeat(201) + ']'.repeat(201), 400],
  ['a megabyte of brackets', '['.repeat(1_000_000), 400],
  ['a list as root', '[{"b":"first"}]', 202, '{a} first {__proto__.admin} {constructor.name} {length}'],
  ['a string as root', '"text"', 202, '{a} {0.b} {__proto__.admin} {constructor.name} {length}'],
  ['a number as root', '42', 202, '{a} {0.b} {__proto__.admin} {constructor.name} {length}'],
  ['null as root', 'null', 202, '{a} {0.b} {__proto__.admin} {constructor.name} {length}'],
  [
    'an own __proto__',
    '{"__proto__":{"admin":true},"a":"{length}"}',
    202,
    '{length} {0.b} {__proto__.admin} {constructor.name} {length}',
  ],
  ['numbers no double can hold', '{"a":1e999}', 202, '1e999 {0.b} {__proto__.admin} {constructor.name} {length}'],
];

for (const [name, body, status, prompt] of bodies) {
  test(`${name} as a body gets ${status}`, async (t) => {
    const { url, dispatcher } = await serve(t, ECHO);
    const answer = await answerOf(await fetch(`${url}/webhooks/ci`, { method: 'POST', body, headers: signed(body) }));
    assert.equal(answer.status, status);
    if (status === 400) assert.equal(answer.body.code, 'malformed_body');
    assert.equal(dispatcher.handed[0]?.dispatch.prompt, prompt);
  });
}

test('a body of an unknown encoding or type gets 415, but only with a valid signature', async (t) => {
  const { url } = await serve(t, ECHO);
  const send = async (headers: Record<string, string>) =>
    answerOf(await fetch(`${url}/webhooks/ci`, { method: 'POST', body: '{}', headers }));
  for (const headers of [{ 'content-encoding': 'zstd' }, { 'content-type': 'text/xml' }]) {
    assert.equal((await send({ ...signed('{}'), ...headers })).body.code, 'unsupported_media_type');
    assert.equal((await send(headers)).status, 401);
  }
});

test('a form is verified over its bytes and read by its payload field', async (t) => {
  const { url, dispatcher } = await serve(t, ECHO);
  const body = 'payload=%7B%22a%22%3A%22from+a+form%22%7D';
  const headers = { ...signed(body), 'content-type': 'application/x-www-form-urlencoded' };
  assert.equal((await fetch(`${url}/webhooks/ci`, { method: 'POST', body, headers })).status, 202);
  assert.match(dispatcher.handed[0]?.dispatch.prompt ?? '', /^from a form /);
});

test('the event type: headers, then event_type, then type; strings only', async (t) => {
  const { post } = await serve(t, { routes: { ci: {} } });
  const event = async (body: unknown, headers: Record<string, string> = {}) =>
    (await post('/webhooks/ci', body, headers)).body.event;
  assert.equal(await event({ event_type: 'b', type: 'c' }, { 'x-forgea-event': 'a' }), 'a');
  assert.equal(await event({ event_type: 'b', type: 'c' }, { 'x-github-event': '' }), 'b');
  assert.equal(await event({ event_type: 7, type: 'c' }), 'c');
  assert.equal(await event({ type: ['c'] }), 'unknown');
  assert.equal(await event([]), 'unknown');
});

test('an unprintable event type is sanitized and still matched by name', async (t) => {
  const { post, log } = await serve(t, { routes: { ci: { events: lowerEvents(['push']).plan } } });
  const { body } = await post('/webhooks/ci', { event_type: 'push\n{"level":"info"}\x1b[2J' });
  assert.equal(body.reason, 'event');
  assert.equal(body.event, 'push\ufffd{"level":"info"}\ufffd[2J');
  const long = await post('/webhooks/ci', { event_type: 'x'.repeat(100_000) });
  assert.equal(String(long.body.event).length, 257);
  for (const { fields } of log.lines) assert.doesNotMatch(String(fields.event ?? ''), /[\x00-\x1f]/);
});

test('overlong delivery ids become digests that stay distinct and idempotent', async (t) => {
  const { post } = await serve(t, { routes: { ci: {} } });
  const send = async (id: string) => (await post('/webhooks/ci', {}, { 'x-request-id': id })).body;
  const long = 'x'.repeat(5000);
  const first = await send(`${long}1`);
  assert.match(String(first.delivery_id), /^sha256:[0-9a-f]{64}$/);
  assert.equal((await send(`${long}2`)).status, 'accepted');
  assert.deepEqual(await send(`${long}1`), { status: 'duplicate', route: 'ci', delivery_id: first.delivery_id });
});

test('non-ASCII header bytes reach neither the log nor a child as control characters', async (t) => {
  const { port, dispatcher } = await serve(t, { routes: { ci: {} } });
  const headers = {
    host: 'x',
    connection: 'close',
    ...signed('{}'),
    'x-github-event': 'p\x9bsh',
    'x-github-delivery': 'i\x85d',
    'content-length': '2',
  };
  const head = Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\r\n');
  await sendRaw(port, [Buffer.from(`POST /webhooks/ci HTTP/1.1\r\n${head}\r\n\r\n{}`, 'latin1')]);
  assert.equal(dispatcher.handed[0]?.dispatch.event, 'p\ufffdsh');
  assert.match(dispatcher.handed[0]?.dispatch.delivery_id ?? '', /^sha256:/);
});

test('ids are scoped to their route', async (t) => {
  const { post } = await serve(t, { routes: { a: {}, b: {} } });
  const id = { 'x-github-delivery': 'same' };
  assert.equal((await post('/webhooks/a', {}, id)).body.status, 'accepted');
  assert.equal((await post('/webhooks/b', {}, id)).body.status, 'accepted');
  assert.equal((await post('/webhooks/a', {}, id)).body.status, 'duplicate');
});

test('an event has one log line, without payload or secret', async (t) => {
  const { post, log } = await serve(t, { routes: { ci: {} } });
  await post('/webhooks/ci', { password: 'hunter2' }, { 'x-github-event': 'push', 'x-github-delivery': 'id-1' });
  const lines = log.lines.filter(({ fields }) => fields.delivery_id === 'id-1');
  assert.equal(lines.length, 1);
  const { ms, ...fields } = lines[0]?.fields ?? {};
  assert.equal(typeof ms, 'number');
  assert.deepEqual(fields, {
    route: 'ci',
    event: 'push',
    delivery_id: 'id-1',
    outcome: 'accepted',
  });
  assert.doesNotMatch(JSON.stringify(log.lines), /hunter2|twenty-eight/);
});
