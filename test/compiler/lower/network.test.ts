import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseNetwork } from '../../../compiler/config/settings.ts';
import { compileConfig, printed } from '../../helpers/compile.ts';

test('parses addresses and networks, and nothing else', () => {
  const good: readonly (readonly [text: string, prefix: number, family: string])[] = [
    ['10.0.0.7', 32, 'ipv4'],
    ['10.0.0.0/8', 8, 'ipv4'],
    ['0.0.0.0/0', 0, 'ipv4'],
    ['::1', 128, 'ipv6'],
    ['::', 128, 'ipv6'],
    ['2001:db8::/32', 32, 'ipv6'],
    ['2001:DB8:0:0:0:0:0:1', 128, 'ipv6'],
    ['::ffff:192.0.2.1', 128, 'ipv6'],
  ];
  for (const [text, prefix, family] of good) {
    assert.deepEqual(parseNetwork(text), { address: text.split('/')[0], prefix, family });
  }
  const bad = [
    '',
    'proxy',
    '10.0.0',
    '10.0.0.256',
    '010.0.0.1',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/08',
    '1.2.3.4/8/8',
  ];
  const bad6 = [
    ':::',
    '1::2::3',
    '2001:db8',
    '12345::',
    '::/129',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7::8',
    'fe80::1%eth0',
  ];
  for (const text of [...bad, ...bad6]) assert.equal(parseNetwork(text), null, text);
});

test('reports an invalid proxy address at its position', () => {
  const result = compileConfig(`platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    trusted_proxies: [10.0.0.1, nginx]
    routes: { r: { prompt: "{x}" } }
`);
  assert.equal(result.output, null);
  assert.match(printed(result), /:5:33: error invalid-value: `nginx`/);
});

test('the memory for unverified bodies fits at least one body', () => {
  const { output } = compileConfig(`platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    max_body_bytes: 5000
    max_unverified_bytes: 10
    routes: { r: { prompt: "{x}" } }
`);
  assert.equal(output?.table.server.max_unverified_bytes, 5000);
});
