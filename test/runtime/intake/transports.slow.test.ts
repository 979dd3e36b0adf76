/** How senders transmit: content types, charsets, content encodings and empty bodies, up to the response. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, test } from 'node:test';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { SECRET } from '../../helpers/route-table.ts';
import type { Answer, Served } from '../../helpers/serve.ts';
import { answerOf, serve, signed } from '../../helpers/serve.ts';

const JSON_TEXT = '{"text":"Grüße \\"x\\"","type":"greeting"}';

const send = async (
  { url }: Served,
  body: Buffer | string,
  headers: Record<string, string> = {},
  route = 'r',
): Promise<Answer> =>
  answerOf(await fetch(`${url}/webhooks/${route}`, { method: 'POST', body, headers: { ...signed(body), ...headers } }));

const gzip = (text: string | Buffer): Buffer => gzipSync(text);

describe('a compressed body is decoded after its signature is verified', () => {
  const encoded: readonly (readonly [string, string, Buffer, number, string?])[] = [
    ['gzip', 'gzip', gzip(JSON_TEXT), 202],
    ['x-gzip', 'x-gzip', gzip(JSON_TEXT), 202],
    ['in capitals, beside identity', 'identity, GZip', gzip(JSON_TEXT), 202],
    ['gzip of two members', 'gzip', Buffer.concat([gzip(JSON_TEXT.slice(0, 9)), gzip(JSON_TEXT.slice(9))]), 202],
    ['deflate', 'deflate', deflateSync(JSON_TEXT), 202],
    ['deflate without a header', 'deflate', deflateRawSync(JSON_TEXT), 202],
    ['brotli', 'br', brotliCompressSync(JSON_TEXT), 202],
    ['a truncated stream', 'gzip', gzip(JSON_TEXT).subarray(0, -9), 400, 'bad_encoding'],
    ['a damaged stream', 'gzip', Buffer.from(gzip(JSON_TEXT)).fill(0xff, 14, 18), 400, 'bad_encoding'],
    ['bytes after gzip', 'gzip', Buffer.concat([gzip(JSON_TEXT), Buffer.from('more')]), 400, 'bad_encoding'],
    ['bytes after deflate', 'deflate', Buffer.concat([deflateSync(JSON_TEXT), Buffer.from('x')]), 400, 'bad_encoding'],
    ['bytes after brotli', 'br', Buffer.concat([brotliCompressSync(JSON_TEXT), Buffer.from('x')]), 400, 'bad_encoding'],
    ['plain JSON that is called gzip', 'gzip', Buffer.from(JSON_TEXT), 400, 'bad_encoding'],
    ['an empty body', 'gzip', Buffer.alloc(0), 400, 'empty'],
    ['two encodings', 'gzip, br', brotliCompressSync(gzip(JSON_TEXT)), 415, 'content_encoding'],
    ['one encoding twice', 'gzip, gzip', gzip(gzip(JSON_TEXT)), 415, 'content_encoding'],
    ['an unknown encoding', 'zstd', Buffer.from(JSON_TEXT), 415, 'content_encoding'],
    ['a name of every object', 'constructor', Buffer.from(JSON_TEXT), 415, 'content_encoding'],
    ['a bomb', 'gzip', gzip(Buffer.alloc(50_000_000, 0x20)), 413, 'decoded_too_large'],
    ['a bomb in brotli', 'br', brotliCompressSync(Buffer.alloc(50_000_000, 0x20)), 413, 'decoded_too_large'],
    ['more than 200 times its size', 'gzip', gzip(Buffer.alloc(900_000, 0x20)), 413, 'decoded_too_large'],
    ['more members than a body of text', 'gzip', Buffer.concat(Array(20_000).fill(gzip(''))), 400, 'empty'],
  ];
  for (const [name, encoding, body, status, reason] of encoded)
    test(name, async (t) => {
      const served = await serve(t, { routes: { r: {} } });
      const answer = await send(served, body, { 'content-encoding': encoding });
      const line = served.log.lines.find(({ fields }) => fields.route === 'r');
      assert.deepEqual([answer.status, line?.fields.reason], [status, reason]);
      if (status === 202) assert.match(served.dispatcher.handed[0]?.dispatch.prompt ?? '', /Grüße/);
    });

  test('a bomb with a wrong signature is not decoded', async (t) => {
    const served = await serve(t, { routes: { r: {} } });
    const bomb = gzip(Buffer.alloc(50_000_000));
    const before = process.memoryUsage().rss;
    for (let count = 0; count < 20; count++)
      assert.equal(
        (await send(served, bomb, { 'content-encoding': 'gzip', 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` }))
          .status,
        401,
      );
    assert.ok(process.memoryUsage().rss - before < 60_000_000);
  });
});

describe('content types and charsets', () => {
  const latin1 = Buffer.from(JSON_TEXT, 'latin1');
  const utf16 = Buffer.from(JSON_TEXT, 'utf16le');
  const cases: readonly (readonly [type: string, Buffer | string, status: number, reason?: string])[] = [
    ['text/json', JSON_TEXT, 202],
    ['*/*', JSON_TEXT, 202],
    ['application/octet-stream', JSON_TEXT, 202],
    ['application/json, application/json', JSON_TEXT, 202],
    ['application/json; charset=utf-8, text/json', JSON_TEXT, 202],
    ['application/json, text/html', JSON_TEXT, 415, 'content_type'],
    ['application/json, application/x-www-form-urlencoded', JSON_TEXT, 415, 'content_type'],
    ['application/octet-stream', Buffer.from([0, 1, 2]), 400, 'not_json'],
    ['application/json; charset=ISO-8859-1', latin1, 202],
    ['application/json; charset="windows-1252"', latin1, 202],
    ['application/json; charset=utf-16le', utf16, 202],
    ['application/json; charset=latin1', JSON_TEXT, 202],
    ['application/json', latin1, 400, 'not_utf8'],
    ['application/json; charset=klingon', JSON_TEXT, 415, 'charset'],
    ['application/json; charset=utf-16le', Buffer.from([0x7b, 0, 0x7d]), 400, 'not_utf8'],
    ['application/x-www-form-urlencoded; charset=ISO-8859-1', 'text=Gr%FC%DFe&type=greeting', 202],
    ['application/x-www-form-urlencoded; charset=ISO-8859-1', 'text=Gr%C3%BC%C3%9Fe&type=greeting', 202],
  ];
  for (const [type, body, status, reason] of cases)
    test(`${type} of ${body.length} bytes: ${reason ?? status}`, async (t) => {
      const served = await serve(t, { routes: { r: {} } });
      const answer = await send(served, body, { 'content-type': type });
      const line = served.log.lines.find(({ fields }) => fields.route === 'r');
      assert.deepEqual([answer.status, line?.fields.reason], [status, reason]);
      if (status !== 202) return;
      assert.equal(answer.body.event, 'greeting');
      assert.match(served.dispatcher.handed[0]?.dispatch.prompt ?? '', /Grüße/);
    });

  test('a declared charset cannot change the structure of a captured body', async (t) => {
    const served = await serve(t, { routes: { r: {} } });
    // In GBK and Shift_JIS, the byte before the backslash takes the backslash in, and the text would end at the quote.
    const body = Buffer.from('{"text":"\u00e9\\",\\"type\\":\\"evil"}', 'latin1');
    for (const charset of [
      'gbk',
      'gb18030',
      'big5',
      'shift_jis',
      'iso-2022-jp',
      'utf-16le',
      'utf-16be',
      'euc-kr',
      'euc-jp',
    ]) {
      const answer = await send(served, body, { 'content-type': `application/json; charset=${charset}` });
      assert.notEqual(answer.body.event, 'evil', charset);
      assert.equal(answer.status, 400, charset);
    }
    const utf8 = Buffer.from('{"text":"\u00e9\\",\\"type\\":\\"evil","type":"real"}');
    for (const charset of ['gbk', 'shift_jis', 'latin1']) {
      const answer = await send(served, utf8, { 'content-type': `application/json; charset=${charset}` });
      assert.equal(answer.body.event, 'real', charset);
    }
  });
});

test('an empty body is `{}` where the source allows it, signed like any other', async (t) => {
  const served = await serve(t, { routes: { r: {}, z: { schemes: ['zendesk'], source: 'zendesk' } } });
  assert.equal((await send(served, '')).status, 400);
  const time = new Date().toISOString();
  const zendesk = (secret: string): Record<string, string> => ({
    'x-zendesk-webhook-signature': createHmac('sha256', secret).update(time).digest('base64'),
    'x-zendesk-webhook-signature-timestamp': time,
  });
  assert.equal((await send(served, '', zendesk(SECRET), 'z')).status, 202);
  assert.equal((await send(served, '', zendesk('another secret of 16 bytes'), 'z')).status, 401);
});

test('a ping of GitHub is ignored unless `events` names it', async (t) => {
  const named = { exact: ['ping'], globs: [] };
  const served = await serve(t, {
    routes: { r: {}, named: { events: named }, all: { events: { exact: [], globs: [] } } },
  });
  const ping = { 'x-github-event': 'ping' };
  assert.deepEqual((await send(served, '{"zen":"x"}', ping)).body.reason, 'event');
  assert.equal(
    (await send(served, '{"zen":"x"}', { ...ping, 'x-github-delivery': '1' }, 'named')).body.status,
    'accepted',
  );
  assert.equal((await send(served, '{"zen":"x"}', { 'x-github-event': 'push' })).body.status, 'accepted');
});

test('`events` matches the name in a system hook of GitLab', async (t) => {
  const events = { exact: ['project_create', 'merge_request'], globs: [] };
  const served = await serve(t, { routes: { r: { events, schemes: ['gitlab'] } } });
  const hook = async (body: object, event = 'System Hook') =>
    (await send(served, JSON.stringify(body), { 'x-gitlab-token': SECRET, 'x-gitlab-event': event })).body;
  const created = await hook({ event_name: 'project_create' });
  assert.deepEqual([created.status, created.event], ['accepted', 'System Hook']);
  assert.equal((await hook({ object_kind: 'merge_request' })).status, 'accepted');
  assert.equal((await hook({ event_name: 'project_destroy' })).status, 'ignored');
  // The body is not signed, and names nothing in other hooks.
  assert.equal((await hook({ event_name: 'project_create' }, 'Push Hook')).status, 'ignored');
});
