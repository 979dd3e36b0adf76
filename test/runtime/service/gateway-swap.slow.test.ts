/** Tests table changes under a running gateway: completely and at once, or not at all. */

import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { lowerTemplate } from '../../../compiler/lower/template.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { until } from '../../helpers/gateway.ts';
import type { Served } from '../../helpers/serve.ts';
import { serve } from '../../helpers/serve.ts';

const prompt = (text: string) => ({ prompt: lowerTemplate(text).plan ?? [] });

const lastPrompt = ({ dispatcher }: Served) => dispatcher.handed.at(-1)?.dispatch.prompt;

test('a replaced table is detected and served', async (t) => {
  const served = await serve(t, { routes: { ci: prompt('old') } });
  const { hash } = served.gateway.status().table;
  served.writeTable({ routes: { ci: prompt('new'), more: {} } });
  await until(async () => served.gateway.status().table.generation === 2);
  await served.post('/webhooks/ci', {});
  assert.equal(lastPrompt(served), 'new');
  assert.equal((await served.post('/webhooks/more', {})).status, 202);
  const { table } = served.gateway.status();
  assert.notEqual(table.hash, hash);
  assert.equal(table.routes, 2);
  assert.equal(table.error, null);
});

test('routing detects a change that the watch missed', async (t) => {
  const watch = () => {
    throw new Error('no more watches');
  };
  const clock = new FakeClock();
  const { gatewayFiles: nodeFiles } = await import('../../../runtime/platform/files.ts');
  const served = await serve(t, { routes: { ci: prompt('old') } }, { clock, files: { ...nodeFiles, watch } });
  served.writeTable({ routes: { ci: prompt('new') } });
  clock.advance(1000);
  await served.post('/webhooks/ci', {});
  await until(async () => served.gateway.status().table.generation === 2);
  await served.post('/webhooks/ci', {});
  assert.equal(lastPrompt(served), 'new');
});

const refused: readonly (readonly [name: string, write: (served: Served) => void, error: RegExp])[] = [
  [
    'a half-written table',
    ({ home }) => writeFileSync(join(home, 'build', 'routes.json'), '{"format":2,"hash":"00'),
    /\btable\b|routes\.json/,
  ],
  [
    'a table without its secret',
    ({ writeTable }) =>
      writeTable({
        routes: { ci: { secrets: [{ ref: { kind: 'env', value: 'GONE', scope: 'default' }, expires_at: null }] } },
      }),
    /route "ci": env:GONE\b/,
  ],
  [
    'a table that opens a route on an open address',
    ({ writeTable }) => writeTable({ routes: { ci: { insecure: true } }, server: { host: '127.0.0.1' } }),
    /INSECURE/,
  ],
];

for (const [name, write, error] of refused) {
  test(`${name} leaves the old table in service and is logged`, async (t) => {
    const loads: boolean[] = [];
    const options = {
      host: name.includes('open address') ? '0.0.0.0' : '127.0.0.1',
      onTableLoad: (ok: boolean) => void loads.push(ok),
    };
    const served = await serve(t, { routes: { ci: prompt('old') } }, options);
    write(served);
    assert.equal(await served.gateway.reload(), false);
    assert.match(served.gateway.status().table.error ?? '', error);
    assert.equal((await served.post('/webhooks/ci', {})).status, 202);
    assert.equal(lastPrompt(served), 'old');
    assert(served.log.lines.some(({ level, fields }) => level === 'error' && error.test(String(fields.reason))));
    assert(loads.includes(false));
    served.writeTable({ routes: { ci: prompt('mended') } });
    assert.equal(await served.gateway.reload(), true);
    assert.equal(served.gateway.status().table.error, null);
  });
}

test('dependents of a table are prepared before the swap and applied with it', async (t) => {
  const steps: string[] = [];
  const prepare = async (table: { routes: object }) => {
    const names = Object.keys(table.routes).join();
    if (names === 'bad') throw new Error('target messenger_a: env:TOKEN is not set');
    steps.push(`prepare ${names}`);
    return () => void steps.push(`apply ${names}`);
  };
  const served = await serve(t, { routes: { a: {} } }, { prepare });
  served.writeTable({ routes: { bad: {} } });
  await served.gateway.reload();
  assert.match(served.gateway.status().table.error ?? '', /env:TOKEN/);
  served.writeTable({ routes: { b: {} } });
  await served.gateway.reload();
  assert.deepEqual(steps, ['prepare a', 'apply a', 'prepare b', 'apply b']);
});

test('a request keeps the table it started with', async (t) => {
  const script = { path: 'slow.sh', interpreter: 'bash', timeout_seconds: 300 } as const;
  const served = await serve(t, { routes: { ci: { ...prompt('old {script_output}'), script } } });
  const { mkdirSync } = await import('node:fs');
  mkdirSync(join(served.home, 'scripts'));
  writeFileSync(
    join(served.home, 'scripts', 'slow.sh'),
    'touch "$HOOKWRIGHT_HOME/begun"; while [ ! -e "$HOOKWRIGHT_HOME/go" ]; do sleep 0.02; done; echo done',
  );
  const slow = served.post('/webhooks/ci', {});
  await until(async () => existsSync(join(served.home, 'begun')));
  served.writeTable({ routes: { other: {} } });
  assert.equal(await served.gateway.reload(), true);
  assert.equal((await served.post('/webhooks/ci', {})).status, 404);
  writeFileSync(join(served.home, 'go'), '');
  assert.equal((await slow).status, 202);
  assert.equal(lastPrompt(served), 'old done');
});

test('a swap does not reset rate windows', async (t) => {
  const served = await serve(t, { routes: { ci: { rate_limit: 2 } } });
  await served.post('/webhooks/ci', {});
  await served.post('/webhooks/ci', {});
  served.writeTable({ routes: { ci: { rate_limit: 3 } } });
  await served.gateway.reload();
  assert.equal((await served.post('/webhooks/ci', {})).status, 202);
  assert.equal((await served.post('/webhooks/ci', {})).status, 429);
});

test('a changed address needs a restart, and is logged', async (t) => {
  const served = await serve(t, { routes: { ci: {} } });
  served.writeTable({ routes: { ci: {} }, server: { port: 1 } });
  await served.gateway.reload();
  assert.equal((await served.post('/webhooks/ci', {})).status, 202);
  assert(served.log.lines.some(({ fields }) => fields.serving !== undefined));
});

test('many swaps under load cause no failed or mixed response', async (t) => {
  const routes = (word: string) =>
    Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`r${i}`, prompt(`${word} ${word}`)]));
  const served = await serve(t, { routes: routes('w0') });
  let running = true;
  let answered = 0;
  const client = async (name: string) => {
    while (running) {
      const { status } = await served.post(`/webhooks/${name}`, {});
      assert.equal(status, 202);
      answered++;
      await sleep(5);
    }
  };
  const clients = Array.from({ length: 8 }, (_, i) => client(`r${i * 37}`));
  for (let i = 1; i <= 8; i++) {
    served.writeTable({ routes: routes(`w${i}`) });
    await served.gateway.reload();
    await sleep(20);
  }
  running = false;
  await Promise.all(clients);
  assert.equal(served.gateway.status().table.generation, 9);
  assert.equal(served.dispatcher.handed.length, answered);
  for (const { dispatch } of served.dispatcher.handed) {
    const [first, second] = dispatch.prompt.split(' ');
    assert.equal(first, second);
  }
  assert.equal(lastPrompt(served)?.startsWith('w8'), true);
});
