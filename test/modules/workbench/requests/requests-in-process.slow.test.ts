/** Tests `requests list|show|replay`, with and without a running gateway. */

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import type { AnySchema } from 'ajv/dist/2020.js';
import Ajv2020 from 'ajv/dist/2020.js';
import type { RequestSummary } from '../../../../schemas/built/operations/types.ts';
import { runInProcess } from '../../../helpers/cli.ts';
import { startGateway } from '../../../helpers/gateway.ts';
import { sendAgain } from '../../../helpers/send-again.ts';
import { signed } from '../../../helpers/serve.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const SECRET = 'a secret of sixteen characters';
const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      review:
        events: [pull_request]
        filters: { field: action, equals: opened }
        prompt: "Review #{number}"
      quiet: { capture: none }
      chat: { source: meta }
`;

async function setUp(t: TestContext) {
  const home = tempDir(t);
  writeFileSync(join(home, '.env'), `WEBHOOK_SECRET=${SECRET}\n`, { mode: 0o600 });
  const gateway = await startGateway(t, { home, config: CONFIG });
  const send = (payload: unknown, headers: Record<string, string> = {}, path = '/webhooks/review') => {
    const body = typeof payload === 'string' ? payload : JSON.stringify(payload);
    const sent = { ...signed(body, SECRET), 'X-GitHub-Event': 'pull_request', ...headers };
    return sendAgain(gateway.url + path, { method: 'POST', body, headers: sent });
  };
  const ok = async (...argv: string[]): Promise<string> => {
    const { code, stdout, stderr } = await gateway.cli('requests', ...argv);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const list = async (...argv: string[]) =>
    JSON.parse(await ok('list', '--json', ...argv)) as readonly RequestSummary[];
  return { ...gateway, send, ok, list };
}

test('filters and pages a list that fits into 80 columns', async (t) => {
  const { send, ok, list, home, cli } = await setUp(t);
  await send({ action: 'opened', number: 1 });
  await send({ action: 'closed', number: 2 }, { 'X-GitHub-Delivery': 'f'.repeat(60) });
  await send({ action: 'closed' }, { 'x-hub-signature-256': 'sha256=00' });
  await send({}, {}, '/webhooks/quiet');
  const all = await list();
  assert.deepEqual(
    all.map(({ outcome, reason }) => [outcome, reason]),
    [
      ['invalid_signature', 'malformed_signature'],
      ['ignored', 'filter'],
      ['accepted', null],
    ],
  );
  assert.deepEqual((await list('--outcome', 'ignored', '--grep', '"number":2', '--since', '2h')).length, 1);
  assert.deepEqual((await list('--route', 'quiet')).length, 0);
  for (const [words, code, says] of [
    [['--route', 'reviev'], 1, /"reviev"\n.*\breview\b/],
    [['--outcome', 'ignord'], 2, /"ignord"\n.*\bignored\b/],
    [['--reason', 'filtr'], 2, /"filtr"\n.*\bfilter\b/],
    [['--before', 'zzz'], 2, /"zzz"/],
  ] as const) {
    const typo = await cli('requests', 'list', ...words);
    assert.equal(typo.code, code, typo.stdout + typo.stderr);
    assert.match(typo.stderr, says);
  }
  const [first] = await list('--limit', '1');
  assert.deepEqual(
    (await list('--before', first?.id ?? '')).map(({ id }) => id),
    all.slice(1).map(({ id }) => id),
  );
  assert.match(await ok('list'), /\n.*invalid_signature: malformed_signature\n/);
  let narrow = '';
  const write = (chunk: Buffer, _encoding: string, done: () => void): void => {
    narrow += chunk.toString();
    done();
  };
  const stdout = Object.assign(new Writable({ write }), { isTTY: true, columns: 80 });
  await runInProcess(['requests', 'list'], { home, context: { stdout } });
  assert(narrow.includes('review') && narrow.split('\n').every((line) => line.length <= 80), narrow);
});

test('prints the next step for a rejected request, but never the valid signature', async (t) => {
  const { send, ok, list } = await setUp(t);
  const body = '{"action":"opened"}';
  const right = signed(body, SECRET)['x-hub-signature-256'] ?? '';
  const base64 = Buffer.from(right.slice(7), 'hex').toString('base64');
  await send(body, { 'x-hub-signature-256': `sha256=${base64}` });
  const [{ id } = { id: '' }] = await list();
  const shown = await ok('show', id.slice(0, 9));
  assert.match(shown, /^answer +401 invalid_signature: /m);
  assert.match(shown, /^next .*docs\/sources\.md/m);
  assert(!shown.includes(right.slice(7)) && !shown.includes(base64));
  assert.equal(JSON.parse(await ok('show', id, '--json')).cause.code, 'encoding');
  await ok('show', id, '--curl');
});

test('lists captured requests without a gateway, and nothing in an empty home', async (t) => {
  const { send, stop, cli, list } = await setUp(t);
  await send({ action: 'opened' });
  await stop();
  const [kept] = await list();
  assert.equal(kept?.outcome, 'accepted');
  assert.equal((await cli('requests', 'replay', kept?.id ?? '')).code, 1);
  const empty = await runInProcess(['requests', 'list', '--json'], { home: tempDir(t) });
  assert.deepEqual(JSON.parse(empty.stdout), []);
  const unknown = await cli('requests', 'show', 'nothing');
  assert.match(unknown.stderr, /"nothing"/);
});

test('the file has the documented columns and is readable only by its owner', async (t) => {
  const { send, home, stop } = await setUp(t);
  await send({ action: 'opened' });
  await stop();
  const { statSync } = await import('node:fs');
  assert.equal(statSync(join(home, 'requests.db')).mode & 0o777, 0o600);
  assert(!readFileSync(join(home, 'requests.db'), 'latin1').includes(SECRET));
});

test('`requests show --json` matches `schema requests` for every kind of reason', async (t) => {
  const { send, ok, cli, url } = await setUp(t);
  const schema = JSON.parse((await cli('schema', 'requests')).stdout) as AnySchema;
  const ajv = new Ajv2020.default({ strict: false });
  const validate = ajv.compile(schema);
  const sent: readonly (readonly [kind: string | undefined, send: () => Promise<Response>])[] = [
    [undefined, () => send({ action: 'opened', number: 1 })],
    ['filter', () => send({ action: 'closed' })],
    ['event', () => send({}, { 'X-GitHub-Event': 'push' })],
    ['signature', () => fetch(`${url}/webhooks/review`, { method: 'POST', body: '{}' })],
  ];
  for (const [kind, request] of sent) {
    await request();
    const shown = JSON.parse(await ok('show', '--json')) as { readonly about: { readonly kind: string } | null };
    assert(validate(shown), JSON.stringify(validate.errors));
    assert.equal(shown.about?.kind, kind);
    assert.doesNotMatch(JSON.stringify(shown.about), /[a-z][A-Z]/);
  }
});
