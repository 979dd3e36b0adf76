/** Tests that a request that two programs could read differently is rejected. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sendRaw, serve } from '../helpers/serve.ts';

const TWO_HOSTS: readonly (readonly [what: string, head: string])[] = [
  ['two hosts', 'Host: a.test\r\nHost: b.test\r\n'],
  ['the same host twice', 'Host: a.test\r\nHost: a.test\r\n'],
  ['two spellings', 'Host: a.test\r\nhOST: b.test\r\n'],
  ['the second one empty', 'Host: a.test\r\nHost:\r\n'],
  ['the second one behind thousands of headers', `Host: a.test\r\n${'a:\r\n'.repeat(2500)}Host: b.test\r\n`],
];

for (const [what, head] of TWO_HOSTS) {
  test(`${what}: 400, and the connection ends`, async (t) => {
    const { port } = await serve(t, { routes: { ci: {} } });
    const again = 'GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    const text = await sendRaw(port, [`GET /health HTTP/1.1\r\n${head}\r\n${again}`]);
    assert.deepEqual(
      [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status),
      ['400'],
    );
    assert.match(text, /"code":"malformed_request"/);
  });
}
