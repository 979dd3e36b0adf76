/**
 * Tests that no request of `platforms.http` reaches a private address, however its host is written, whatever it resolves to,
 * and whatever a payload contains. A listener on this machine would see it, and does with `allow_private`.
 */
import assert from 'node:assert/strict';
import type { LookupAddress, LookupOptions, lookup } from 'node:dns';
import { createServer as createHttp } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { codeOf } from '../../base/errors.ts';
import { isPublicAddress, NOT_PUBLIC } from '../../base/net.ts';
import { publicConnector } from '../../runtime/deliver/public-connector.ts';
import { deliveryTo } from '../helpers/deliveries.ts';
import { deliverHttp, lintHttp } from '../helpers/http-target.ts';

let reached = 0;
const server = createHttp((_, response) => response.end('ok'));
server.on('connection', () => reached++);
let port = 0;
before(
  () =>
    new Promise<void>((resolve) => {
      // All addresses of this machine.
      server.listen(0, () => {
        port = (server.address() as AddressInfo).port;
        resolve();
      });
    }),
);
after(() => server.close());

/** Resolves to the n-th of the lists; the last one repeats. */
function answering(...answers: readonly (readonly string[])[]): {
  readonly asked: string[];
  readonly resolve: typeof lookup;
} {
  const asked: string[] = [];
  const resolve = (host: string, _: LookupOptions, callback: (error: null, found: LookupAddress[]) => void): void => {
    const found = answers[Math.min(asked.length, answers.length - 1)] ?? [];
    asked.push(host);
    setImmediate(() =>
      callback(
        null,
        found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      ),
    );
  };
  return { asked, resolve: resolve as unknown as typeof lookup };
}

const HOSTS: readonly string[] = [
  ...['127.0.0.1', '127.0.0.2', '127.1', '127.0.1', '0', '0.0.0.0', '127.255.255.254', '2130706433', '0x7f000001'],
  ...[
    '0x7f.0.0.1',
    '0x7f.1',
    '017700000001',
    '0177.0.0.1',
    '0177.1',
    '00000177.0.0.1',
    '0x7F.0x0.0x0.0x1',
    '127.0.0.1.',
  ],
  ...[
    '127.1.',
    '127。0。0。1',
    '１２７.０.０.１',
    '①②⑦.⓪.⓪.①',
    '%31%32%37.0.0.1',
    '[::1]',
    '[::]',
    '[0:0:0:0:0:0:0:1]',
  ],
  ...['[0000:0000:0000:0000:0000:0000:0000:0001]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::ffff:0:127.0.0.1]'],
  ...['[::127.0.0.1]', '[64:ff9b::127.0.0.1]', '[64:ff9b:1::127.0.0.1]', '[2002:7f00:1::]', '[2001:0:7f00:1::]'],
  ...['[fe80::1]', '[fc00::1]', '[fd00:ec2::254]', '[ff02::1]', '[fec0::1]', '[2001:db8::1]', '[100::1]', '[5f00::1]'],
  ...['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.0.1', '169.254.169.254', '169.254.170.2', '100.64.0.1'],
  ...['100.100.100.200', '100.127.255.255', '192.0.0.192', '192.0.2.1', '198.18.0.1', '198.51.100.1', '203.0.113.1'],
  ...[
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
    '2852039166',
    '0xa9fea9fe',
    '0251.0376.0251.0376',
  ],
  ...['localhost', 'LOCALHOST', 'localhost.', 'foo.localhost', 'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ', 'ip6-localhost', 'localhost.localdomain'],
];

/** Nothing is sent: the configuration does not compile, or the delivery fails. */
async function isRefused(t: Parameters<typeof deliverHttp>[0], http: object, more: object = {}): Promise<void> {
  const before = reached;
  const said = lintHttp(http);
  if (/error (unsafe-url|invalid-value)/.test(said)) return;
  assert.equal(said.includes('error'), false, said);
  const outcome = await deliverHttp(t, http, more).deliver(deliveryTo('http'));
  assert.notEqual(outcome.kind, 'ok');
  assert.equal(reached, before, 'the listener was reached');
}

describe('hosts', () => {
  for (const host of HOSTS) test(host, (t) => isRefused(t, { url: `http://${host}:${port}/x`, allow_http: true }));

  test('the listener is reachable with allow_private', async (t) => {
    for (const url of [`http://127.1:${port}/x`, `http://localhost:${port}/x`]) {
      const before = reached;
      const outcome = await deliverHttp(t, { url, allow_http: true, allow_private: true }).deliver(deliveryTo('http'));
      assert.deepEqual([outcome.kind, reached], ['ok', before + 1]);
    }
  });

  test('user names do not hide the host, and a backslash ends it', async (t) => {
    for (const authority of [
      'example.com@127.0.0.1',
      '127.0.0.1\\@example.com',
      'example.com:80@localhost',
      '127.0.0.1#@example.com',
    ])
      await isRefused(t, { url: `http://${authority}:${port}/x`, allow_http: true });
  });
});

describe('names that resolve to', () => {
  const url = (): string => `http://hooks.example.com:${port}/x`;
  const refused = async (t: Parameters<typeof deliverHttp>[0], ...answers: readonly (readonly string[])[]) => {
    const double = answering(...answers);
    await isRefused(t, { url: url(), allow_http: true }, { lookup: double.resolve });
    return double.asked;
  };
  const PUBLIC = '93.184.216.34';

  for (const host of HOSTS.flatMap((one) => {
    const address = URL.canParse(`http://${one}/`) ? new URL(`http://${one}/`).hostname.replace(/^\[|\]$/g, '') : '';
    return /^[\d.]+$|:/.test(address) ? [address] : [];
  }))
    test(host, async (t) => void (await refused(t, [host])));

  const mixed: Readonly<Record<string, readonly string[]>> = {
    'a public one, then a private one': [PUBLIC, '127.0.0.1'],
    'a private one, then a public one': ['127.0.0.1', PUBLIC],
    'a public one of IPv6 and a private one of IPv4': ['2606:2800:220:1:248:1893:25c8:1946', '10.0.0.1'],
    'an address with a zone': ['fe80::1%lo'],
    'an invalid address': ['localhost'],
    nothing: [],
  };
  for (const [name, answers] of Object.entries(mixed)) test(name, async (t) => void (await refused(t, answers)));

  test('another address a moment later: only the checked one is used, after one lookup', async () => {
    // No packet leaves the machine from this address.
    const double = answering([PUBLIC], ['127.0.0.1']);
    const connect = publicConnector({ localAddress: '127.0.0.1', port: 0 }, double.resolve);
    const before = reached;
    const attempt = (): Promise<unknown> =>
      new Promise((resolve) => {
        const target = { hostname: 'hooks.example.com', protocol: 'http:', port: String(port) };
        connect(target, (error, socket) => resolve(error ?? socket));
      });
    const first = await attempt();
    assert.ok(first instanceof Error && codeOf(first) !== NOT_PUBLIC, String(first));
    assert.deepEqual([double.asked, reached], [['hooks.example.com'], before]);
    // The next attempt resolves again, and finds an address that is not allowed.
    assert.equal(codeOf(await attempt()), NOT_PUBLIC);
    assert.equal(reached, before);
  });
});

test('a redirect to this machine is not followed', async (t) => {
  const target = createHttp((_, response) => {
    response.writeHead(307, { location: `http://127.0.0.1:${port}/stolen` }).end();
  });
  await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
  t.after(() => target.close());
  const before = reached;
  const url = `http://127.0.0.1:${(target.address() as AddressInfo).port}/`;
  const outcome = await deliverHttp(t, { url, allow_http: true, allow_private: true }).deliver(deliveryTo('http'));
  assert.deepEqual([outcome.kind, reached], ['permanent', before]);
});

test('addresses of the public internet are public', () => {
  const all = [
    '1.1.1.1',
    '8.8.8.8',
    '93.184.216.34',
    '172.15.0.1',
    '172.32.0.1',
    '100.63.0.1',
    '100.128.0.1',
    '11.0.0.1',
  ];
  for (const address of [...all, '2606:4700:4700::1111', '2a00:1450:4001::8a', '2001:4860:4860::8888'])
    assert.ok(isPublicAddress(address), address);
  for (const none of ['', 'localhost', '127.1', '1.1.1.1.', '::ffff:8.8.8.8', '[::1]', '1.1.1.1%0'])
    assert.ok(!isPublicAddress(none), none);
});
