import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { handshakeReply } from '../../../runtime/intake/reply.ts';
import type { HandshakeContext } from '../../../runtime/verify/handshake.ts';
import { linkHandshake } from '../../../runtime/verify/handshake.ts';
import type { RequestParts } from '../../../runtime/verify/request.ts';
import { LazyRequest } from '../../../runtime/verify/request.ts';
import { loadShippedSources } from '../../helpers/catalog-sources.ts';

const sources = loadShippedSources();
const CONTEXT: HandshakeContext = { secret: 'the-secret', verifyToken: 'the-token', capture: null };

function request(parts: {
  readonly method?: string;
  readonly url?: string;
  readonly headers?: RequestParts['headers'];
  readonly body?: string;
}) {
  const { method = 'POST', url = '/webhooks/r', headers = {}, body = '' } = parts;
  return new LazyRequest({ method, url, headers, rawHeaders: [], body: Buffer.from(body) });
}

function answer(source: string, parts: Parameters<typeof request>[0], signed: boolean, context = CONTEXT) {
  const reply = linkHandshake(sources.plan(source), context)?.(request(parts), signed) ?? null;
  return reply === null ? null : { status: reply.status, body: reply.body };
}

test('a source without handshakes has none', () => {
  assert.equal(linkHandshake(sources.plan('github'), CONTEXT), null);
});

test('GET: the value is echoed only for the right mode and verify token', () => {
  const get = (query: string) => answer('meta', { method: 'GET', url: `/webhooks/r?${query}` }, false);
  const right = 'hub.mode=subscribe&hub.verify_token=the-token&hub.challenge=42';
  assert.deepEqual(get(right), { status: 200, body: '42' });
  assert.equal(get(right.replace('the-token', 'another')), null);
  assert.equal(get(right.replace('subscribe', 'else')), null);
  assert.equal(get('hub.mode=subscribe&hub.challenge=42'), null);
  assert.equal(get(`${right}&hub.challenge=43`), null, 'two values are none');
  const unset = { ...CONTEXT, verifyToken: null };
  assert.equal(answer('meta', { method: 'GET', url: `/?${right}` }, false, unset), null, 'no token configured');
});

test('GET: headers of the source are sent, and nothing can be rendered as a page', () => {
  const reply = linkHandshake(sources.plan('dropbox'), CONTEXT)?.(
    request({ method: 'GET', url: '/?challenge=<b>' }),
    false,
  );
  assert.equal(reply?.body, '<b>');
  assert.ok(reply?.headers.includes('text/plain; charset=utf-8') && reply.headers.includes('nosniff'));
});

test('HEAD is answered where the sender checks the URL with it', () => {
  assert.deepEqual(answer('trello', { method: 'HEAD' }, false), { status: 200, body: '' });
  assert.equal(answer('trello', { method: 'GET' }, false), null);
});

test('a signed POST is answered after the signature check and only then', () => {
  const body = JSON.stringify({ type: 'url_verification', challenge: 'c-1' });
  assert.deepEqual(answer('slack', { body }, true), { status: 200, body: 'c-1' });
  assert.equal(answer('slack', { body }, false), null);
  assert.equal(answer('slack', { body: '{"type":"event_callback","challenge":"c-1"}' }, true), null);
  const twitch = {
    headers: { 'twitch-eventsub-message-type': 'webhook_callback_verification' },
    body: '{"challenge":"x y"}',
  };
  assert.deepEqual(answer('twitch', twitch, true), { status: 200, body: 'x y' });
});

test('a reply has the value and its HMAC, and the value stays inside its string', () => {
  const plain = 'a"}{value}';
  const body = JSON.stringify({ event: 'endpoint.url_validation', payload: { plainToken: plain } });
  const encryptedToken = createHmac('sha256', 'the-secret').update(plain).digest('hex');
  const reply = answer('zoom', { body }, true);
  assert.deepEqual(JSON.parse(reply?.body ?? ''), { plainToken: plain, encryptedToken });
});

test('both pings of one sender have their own response', () => {
  assert.deepEqual(answer('discord', { body: '{"type":1}' }, true), { status: 200, body: '{"type":1}' });
  assert.deepEqual(answer('discord', { body: '{"type":0}' }, true), { status: 204, body: '' });
  assert.equal(answer('discord', { body: '{"type":2}' }, true), null);
});

test('a secret is captured only while a command waits for it, and echoed if the sender requires it', () => {
  const taken: string[] = [];
  const waiting = { ...CONTEXT, secret: null, capture: (secret: string) => taken.push(secret) > 0 };
  const hook = { headers: { 'x-hook-secret': 'captured-1' }, body: '' };
  const reply = handshakeReply(linkHandshake(sources.plan('asana'), waiting)?.(request(hook), false) ?? null);
  assert.deepEqual(reply?.headers.slice(-4, -2), ['x-hook-secret', 'captured-1']);
  assert.equal(answer('notion', { body: '{"verification_token":"captured-2"}' }, false, waiting)?.status, 200);
  assert.deepEqual(taken, ['captured-1', 'captured-2']);
  const closed = { ...waiting, capture: () => false };
  assert.equal(answer('asana', hook, false, closed), null);
  assert.equal(answer('asana', hook, false, CONTEXT), null);
  assert.equal(
    answer('asana', { headers: { 'x-hook-secret': 'two words' } }, false, waiting),
    null,
    'not visible ASCII',
  );
});

test('an overlong value is not echoed', () => {
  assert.equal(answer('dropbox', { method: 'GET', url: `/?challenge=${'a'.repeat(2000)}` }, false), null);
});
