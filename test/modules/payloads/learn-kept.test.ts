/** Tests `source learn` with captured requests, with and without a running gateway. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { runInProcess } from '../../helpers/cli.ts';
import { startGateway } from '../../helpers/gateway.ts';
import { sendAgain } from '../../helpers/send-again.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const CONFIG = `platforms:
  webhook:
    enabled: true
    secret: INSECURE_NO_AUTH
    routes:
      orders: { prompt: "{order.id}", deliver: local, agent: none }
      signed: { prompt: "{order.id}", deliver: local, agent: none, secret: the-secret-of-the-shop }
`;

test('source learn reads captured requests by route or id, with the events that the gateway found', async (t) => {
  const gateway = await startGateway(t, { home: tempDir(t), config: CONFIG });
  const post = (route: string, type: string, body: object) =>
    sendAgain(`${gateway.url}/webhooks/${route}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-github-event': type },
      body: JSON.stringify(body),
    });
  await post('orders', 'order.paid', { order: { id: 1 }, coupon: 'SPRING' });
  await post('orders', 'order.paid', { order: { id: 2 } });
  await post('orders', 'order.sent', { order: { id: 2 }, carrier: 'x' });
  await post('signed', 'order.paid', { order: { id: 3 } });

  const learn = (...argv: string[]) => gateway.cli('source', 'learn', 'shop', ...argv);
  const both = await learn('--route', 'orders');
  assert.deepEqual([both.code, both.stdout], [1, '']);
  assert.match(both.stderr, /\b2\b.*order\.sent.*order\.paid/);
  const paid = await learn('--route', 'orders', '--event', 'order.paid');
  assert.match(paid.stdout, /\b2\b/);
  const { required, properties } = parse(paid.stdout) as { required: string[]; properties: object };
  assert.deepEqual([required, Object.keys(properties)], [['order'], ['order', 'coupon']]);

  await gateway.stop();
  const captured = JSON.parse((await gateway.cli('requests', 'list', '--json')).stdout) as {
    id: string;
    route: string;
  }[];
  const idOf = (route: string): string => captured.find((each) => each.route === route)?.id ?? '';
  assert.match((await learn('--request', idOf('orders'))).stdout, /"order\.sent".*\b1\b/);
  assert.equal((await learn('--request', idOf('signed'))).code, 1);
  assert.match((await learn('--route', 'signed')).stderr, /\b1\b.*"signed"/);
  assert.match((await learn('--route', 'nosuch')).stderr, /"nosuch"/);
});

test('a widened schema does not claim to come from the first requests alone', async (t) => {
  const cwd = tempDir(t);
  const learn = async (body: string): Promise<string> => {
    writeFileSync(join(cwd, 'e.json'), body);
    const { code } = await runInProcess(['source', 'learn', 'my', 'e.json', '--out', '.'], { home: tempDir(t), cwd });
    assert.equal(code, 0);
    return readFileSync(join(cwd, 'my.yaml'), 'utf8');
  };
  const first = await learn('{"id": 8202522731445525542, "n": 1.0}');
  assert.match(first, /from 1 request by/);
  const { properties } = parse(first) as { properties: unknown };
  assert.deepEqual(properties, { id: { type: 'integer' }, n: { type: 'number' } });
  const second = await learn('{"id": 1, "other": true}');
  assert.match(second, /from 1 request and later ones by/);
  assert.equal(await learn('{"id": 1}'), second);
});
