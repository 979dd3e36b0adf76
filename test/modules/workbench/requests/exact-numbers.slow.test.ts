/**
 * Tests that any JSON number keeps its text through a gateway: filters, script, prompt, delivery id, keys, store, captured
 * request, replay, `explain` and tests; on both engines.
 */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { RequestSummary } from '../../../../schemas/built/operations/types.ts';
import { startGateway, until } from '../../../helpers/gateway.ts';
import { jsonNumber } from '../../../helpers/json-numbers.ts';
import { skipWithoutPostgres } from '../../../helpers/postgres/binaries.ts';
import { testDatabase } from '../../../helpers/postgres/database.ts';
import { sendAgain } from '../../../helpers/send-again.ts';
import { signed } from '../../../helpers/serve.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const SECRET = 'a secret of sixteen characters';
const PROMPT = '{id} {o} {list.1}\\n{__raw__}';

const configFor = (numbers: readonly string[], store: string): string => `gateway: { ${store} }
sources:
  shop:
    title: Shop
    verify: hmac-sha256
    signature: { header: X-Hub-Signature-256, prefix: "sha256=" }
    encoding: hex
    signed: "{body}"
    delivery: { json: id }
platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    rate_limit: 10000
    routes:
      numbers:
        source: shop
        agent: none
        prompt: "${PROMPT}"
        filters:
          - { field: id, in: [${numbers.join(', ')}] }
          - { any: [${numbers.map((number) => `{ field: o.x, equals: ${number} }`).join(', ')}] }
      scripted: { source: shop, agent: none, prompt: "${PROMPT}", script: same.sh }
      keyed: { source: shop, prompt: "{id}", session_key: id, coalesce: { key: "{id}/{id}", window_seconds: 1 } }
`;

const payloadOf = (number: string): string => `{"id":${number},"o":{"x":${number}},"list":[0,${number}]}`;

/** Written apart from the program: the payload's text in two forms. */
function promptOf(number: string): string {
  const dump = `{\n  "id": ${number},\n  "o": {\n    "x": ${number}\n  },\n  "list": [\n    0,\n    ${number}\n  ]\n}`;
  return `${number} {"x":${number}} ${number}\n${dump}`;
}

async function setUp(t: TestContext, numbers: readonly string[], store: string, env: Record<string, string>) {
  const home = tempDir(t);
  mkdirSync(join(home, 'scripts'));
  writeFileSync(join(home, 'scripts', 'same.sh'), '#!/bin/sh\ncat\n', { mode: 0o700 });
  const config = configFor(numbers, store);
  const gateway = await startGateway(t, { home, env: { ...env, WEBHOOK_SECRET: SECRET }, config });
  const json = async <T>(...argv: string[]): Promise<T> => {
    const { code, stdout, stderr } = await gateway.cli(...argv, '--json');
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout) as T;
  };
  const send = async (route: string, body: string): Promise<Record<string, unknown>> => {
    const answer = await sendAgain(`${gateway.url}/webhooks/${route}`, {
      method: 'POST',
      body,
      headers: signed(body, SECRET),
    });
    return (await answer.json()) as Record<string, unknown>;
  };
  const promptIn = async (id: string): Promise<string> => {
    const { stdout } = await gateway.cli('deliveries', 'show', id, '--full');
    return /\nprompt:\n([\s\S]*?)\n(?:\nanswer:|$)/.exec(stdout)?.[1] ?? stdout;
  };
  return { ...gateway, json, send, promptIn };
}

interface Stored {
  readonly id: string;
  readonly delivery_id: string;
  readonly state: string;
}

const ENGINES = [
  ['SQLite', 'capture: all', async () => ({}), false],
  [
    'PostgreSQL',
    'store: { postgres: env:DATABASE_URL }',
    async (t: TestContext) => ({ DATABASE_URL: await testDatabase(t) }),
    skipWithoutPostgres(),
  ],
] as const;

for (const [engine, store, envOf, skip] of ENGINES) {
  describe(`any number of a payload, on ${engine}`, { skip }, () => {
    it('is stored, captured, replayed, explained and tested as it was sent', async (t) => {
      const special = ['8202522731445525542', '8202522731445525543', '10.00', '1e400', '-0', '9'.repeat(40), '1E+5'];
      const numbers = [...new Set([...special, ...fc.sample(jsonNumber, { numRuns: 8, seed: 20261128 })])];
      const gateway = await setUp(t, numbers, store, await envOf(t));
      for (const number of numbers) {
        for (const route of ['numbers', 'scripted']) {
          const { status, delivery_id } = await gateway.send(route, payloadOf(number));
          assert.deepEqual([status, delivery_id], ['accepted', number], `${route} ${number}`);
        }
        assert.equal((await gateway.send('numbers', payloadOf(number))).status, 'duplicate', number);
      }
      const done = await until(async () => {
        const found = await gateway.json<readonly Stored[]>('deliveries', 'list');
        return found.length === 2 * numbers.length && found.every(({ state }) => state === 'done') && found;
      });
      for (const { id, delivery_id } of done) assert.equal(await gateway.promptIn(id), promptOf(delivery_id));
      const requests = await gateway.json<readonly RequestSummary[]>('requests', 'list', '--outcome', 'accepted');
      const [chosen] = requests.filter(({ route }) => route === 'numbers');
      const number = chosen?.delivery_id ?? '';
      const { stdout: body } = await gateway.cli('requests', 'show', chosen?.id ?? '', '--body');
      assert.equal(body.trim(), payloadOf(number));
      const replayed = JSON.parse((await gateway.cli('requests', 'replay', chosen?.id ?? '', '--json')).stdout);
      assert.equal(replayed.status, 202);
      const again = await until(async () => {
        const found = await gateway.json<readonly Stored[]>('deliveries', 'list', '--limit', '1');
        return !done.some(({ id }) => id === found[0]?.id) && found[0]?.state === 'done' && found[0];
      });
      assert.equal(await gateway.promptIn(again.id), promptOf(number));
      const explained = await gateway.cli('explain', 'numbers', '--request', chosen?.id ?? '', '--json');
      assert.ok(explained.stdout.includes(`"found": ${number}`), explained.stdout);
      assert.equal(JSON.parse(explained.stdout).prompt, promptOf(number));
      const asTest = await gateway.cli('requests', 'show', chosen?.id ?? '', '--as-test');
      writeFileSync(join(gateway.home, 'kept.test.yaml'), `config: config.yaml\n${asTest.stdout}`);
      assert.ok(asTest.stdout.includes(`id: ${number}\n`), asTest.stdout);
      const tested = await gateway.cli('test', join(gateway.home, 'kept.test.yaml'));
      assert.equal(tested.code, 0, tested.stdout + tested.stderr);
    });

    it('separates sessions and groups of different numbers', async (t) => {
      const numbers = ['8202522731445525542', '8202522731445525543', '1.0', '1.00', '1'];
      const gateway = await setUp(t, numbers, store, await envOf(t));
      for (const number of numbers) assert.equal((await gateway.send('keyed', payloadOf(number))).superseded, 0);
      const explained = await gateway.cli('explain', 'keyed', '--payload', payloadOf('1.00'), '--json');
      const { session, coalesce } = JSON.parse(explained.stdout);
      assert.deepEqual([session, coalesce.key], ['webhook:keyed:1.00', '1.00/1.00']);
    });
  });
}
