/** Tests the errors that prevent a gateway from starting. */
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { RoutePlan } from '../../../schemas/generated/types.ts';
import { answerOf, prepareGateway, serve, signed } from '../../helpers/serve.ts';

const JSON_BODY = { 'content-type': 'application/json' };
const secretOf = (name: string): Partial<RoutePlan> => ({
  secrets: [{ ref: { kind: 'env', value: name, scope: 'default' }, expires_at: null }],
});

test('all missing and empty secrets are named with their routes, never with values', async (t) => {
  const { gateway, home } = prepareGateway(t, {
    routes: { a: secretOf('NONE'), b: secretOf('EMPTY'), c: secretOf('FINE'), d: { secrets: [] } },
  });
  writeFileSync(join(home, '.env'), 'EMPTY=\nFINE=a fine secret of some length\n');
  await assert.rejects(gateway.load(), {
    name: 'TableError',
    message: /^route "a": env:NONE\b.*\.env\nroute "b": env:EMPTY\b.*\nroute "d": .*$/,
  });
});

test('a secret that is not a valid key for its route is rejected', async (t) => {
  const { gateway } = prepareGateway(t, {
    routes: {
      d: {
        source: 'discord',
        schemes: ['discord'],
        secrets: [{ ref: { kind: 'literal', value: 'no key', scope: 'default' }, expires_at: null }],
      },
    },
  });
  await assert.rejects(gateway.load(), /route "d": .*\bdiscord\b/);
});

const hosts: readonly (readonly [table: string, flag: string | undefined, starts: boolean])[] = [
  ['127.0.0.1', undefined, true],
  ['localhost', undefined, true],
  ['LocalHost', undefined, true],
  ['::1', undefined, true],
  ['0.0.0.0', undefined, false],
  ['', undefined, false],
  ['127.0.0.1', '0.0.0.0', false],
  ['0.0.0.0', '127.0.0.1', true],
  ['127.0.0.1', '', false],
  ['::', undefined, false],
];

for (const [host, flag, starts] of hosts) {
  test(`INSECURE_NO_AUTH with host "${host}"${flag === undefined ? '' : ` and --host "${flag}"`} is ${starts ? 'served' : 'refused'}`, async (t) => {
    const parts = { routes: { open: { insecure: true, secrets: [] } }, server: { host } };
    const { gateway } = prepareGateway(t, parts, flag === undefined ? {} : { host: flag });
    if (starts) await gateway.load();
    else await assert.rejects(gateway.load(), /route "open": INSECURE_NO_AUTH\b/);
  });
}

test('a reference to INSECURE_NO_AUTH turns authentication off, and never becomes a signing key', async (t) => {
  const { gateway, home } = prepareGateway(t, { routes: { open: secretOf('HOOK') }, server: { host: '0.0.0.0' } });
  writeFileSync(join(home, '.env'), 'HOOK=INSECURE_NO_AUTH\n');
  await assert.rejects(gateway.load(), /INSECURE_NO_AUTH\b/);
});

test('an insecure route accepts unsigned events on loopback', async (t) => {
  const { url } = await serve(t, { routes: { open: { insecure: true, secrets: [] } } });
  assert.equal((await fetch(`${url}/webhooks/open`, { method: 'POST', body: '{}', headers: JSON_BODY })).status, 202);
});

test('a missing, incomplete or unreadable table is rejected by name', async (t) => {
  const { gateway, home } = prepareGateway(t, {});
  const table = join(home, 'build', 'routes.json');
  writeFileSync(table, '{"format":2,"hash":"');
  await assert.rejects(gateway.load(), { name: 'TableError' });
  rmSync(table);
  await assert.rejects(gateway.load(), /could not read \S+routes\.json \(ENOENT\): run `hookwright compile`/);
});

test('a port in use gives a clear error', async (t) => {
  const { port } = await serve(t, {});
  const other = prepareGateway(t, {}, { port });
  await other.gateway.load();
  await assert.rejects(other.gateway.listen(), {
    name: 'ListenError',
    message: new RegExp(`^127\\.0\\.0\\.1:${port}\\b`),
  });
});

test('an address of another machine gives a clear error', async (t) => {
  const { gateway } = prepareGateway(t, {}, { host: '192.0.2.1' });
  await gateway.load();
  await assert.rejects(gateway.listen(), {
    name: 'ListenError',
    message: /^192\.0\.2\.1:0\b/,
  });
});

test('the legacy scheme is logged as deprecated once for each route', async (t) => {
  const { url, log } = await serve(t, { routes: { a: {}, b: {} } });
  const { 'x-hub-signature-256': hub = '' } = signed('{}');
  const headers = { ...JSON_BODY, 'x-webhook-signature': hub.slice('sha256='.length) };
  for (const route of ['a', 'a', 'b']) {
    assert.equal(
      (await answerOf(await fetch(`${url}/webhooks/${route}`, { method: 'POST', body: '{}', headers }))).status,
      202,
    );
  }
  const warnings = log.lines.filter(({ fields }) => fields.scheme !== undefined);
  assert.deepEqual(
    warnings.map(({ level, fields }) => [level, fields.route, fields.scheme]),
    [
      ['warn', 'a', 'generic-v1'],
      ['warn', 'b', 'generic-v1'],
    ],
  );
});
