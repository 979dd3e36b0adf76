import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCapture } from '../../../../modules/workbench/cli/sources/read-capture.ts';

const read = (text: string) => readCapture(Buffer.from(text, 'latin1'));
const only = (text: string) => {
  const [first, ...others] = read(text);
  assert.ok(first !== undefined && others.length === 0);
  return first;
};

test('reads method, target, headers and the exact body of a raw request', () => {
  const raw =
    'POST /webhooks/r?a=1 HTTP/1.1\r\nHost: example.test\r\nX-A: 1\r\nx-a: 2\r\nX-B: \xe9\r\n\r\n{"a":\n1}\r\n';
  const { parts, url, notes } = only(raw);
  assert.deepEqual(
    { method: parts.method, url: parts.url, headers: parts.headers },
    { method: 'POST', url: '/webhooks/r?a=1', headers: { host: 'example.test', 'x-a': '1, 2', 'x-b': '\xe9' } },
  );
  assert.deepEqual(parts.rawHeaders.slice(2, 6), ['X-A', '1', 'x-a', '2']);
  assert.equal(parts.body.toString('latin1'), '{"a":\n1}\r\n');
  assert.equal(url, 'https://example.test/webhooks/r');
  assert.deepEqual(notes, []);
});

test('removes a line feed after the announced length, which an editor added', () => {
  const { parts, notes } = only('POST /r HTTP/1.1\nContent-Length: 2\n\n{}\n');
  assert.equal(parts.body.toString(), '{}');
  assert.equal(notes.length, 1);
});

test('reads a REST client file with comments, an absolute URL and no version', () => {
  const { parts, url } = only('### a test\n// more\nPOST https://example.test/r?x=1\nX-A: 1\n\n{}');
  assert.equal(parts.url, '/r?x=1');
  assert.equal(url, 'https://example.test/r');
});

test('reads all entries of a HAR file with a body, also base64, without pseudo headers', () => {
  const entry = (postData: unknown) => ({
    request: {
      method: 'POST',
      url: 'https://x/r',
      headers: [
        { name: ':path', value: '/r' },
        { name: 'X-A', value: '1' },
      ],
      postData,
    },
  });
  const har = {
    log: { entries: [entry({ text: '{}' }), entry(undefined), entry({ text: 'e30=', encoding: 'base64' })] },
  };
  const found = read(JSON.stringify(har));
  assert.deepEqual(
    found.map(({ label, parts }) => [label, parts.body.toString(), parts.rawHeaders]),
    [
      ['#1 POST https://x/r', '{}', ['X-A', '1']],
      ['#2 POST https://x/r', '{}', ['X-A', '1']],
    ],
  );
});

test('rejects other files and names the supported formats', () => {
  assert.throws(() => read('hello'), /HTTP/);
  assert.throws(() => read('{"a":1}'), /not a HAR file/);
  assert.throws(() => read('{"log":{"entries":[]}}'), /no request with a body/);
});
