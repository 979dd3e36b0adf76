/** Tests that a machine is one client, however its address is written. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainAddress, TrustedProxies } from '../../../runtime/intake/client.ts';

const SPELLINGS = [
  '5.5.5.5',
  '::ffff:5.5.5.5',
  '::FFFF:5.5.5.5',
  '::ffff:505:505',
  '::ffff:0505:0505',
  '0:0:0:0:0:ffff:5.5.5.5',
];

test('an IPv4-mapped IPv6 address is the IPv4 address', () => {
  assert.deepEqual([...new Set(SPELLINGS.map(plainAddress))], ['5.5.5.5']);
  for (const other of ['2001:db8::ffff:1', '::1', 'fe80::ffff:1%eth0', 'x', '::ffff:5.5.5.999']) {
    assert.equal(plainAddress(other), other);
  }
});

test('an address from a proxy may have a port or brackets', () => {
  const proxies = new TrustedProxies([]);
  const hops = [...SPELLINGS, ...SPELLINGS.map((hop) => (hop.includes('::') ? `[${hop}]:4711` : hop)), '5.5.5.5:4711'];
  assert.deepEqual([...new Set(hops.map((hop) => proxies.clientIn(hop)))], ['5.5.5.5']);
});
