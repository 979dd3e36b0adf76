/** Tests dynamic routes from webhook_subscriptions.json under a running gateway (§2.7). */
import assert from 'node:assert/strict';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { lowerTemplate } from '../../../compiler/lower/template.ts';
import type { LowerSubscriptions } from '../../../runtime/table/subscriptions.ts';
import { routePlan } from '../../helpers/route-table.ts';
import type { Served, ServeOptions } from '../../helpers/serve.ts';
import { serve } from '../../helpers/serve.ts';

/** Entries are `{prompt?, secret?}`; any other key is invalid. */
const lower: LowerSubscriptions = (text) => {
  const routes = [];
  const rejected = [];
  for (const [name, entry] of Object.entries(JSON.parse(text) as Record<string, Record<string, string>>)) {
    const { prompt = 'dynamic', secret, ...rest } = entry;
    if (Object.keys(rest).length > 0) rejected.push({ name, reason: `unknown key "${Object.keys(rest)[0]}"` });
    else {
      const plan = { prompt: lowerTemplate(prompt).plan ?? [] };
      const ref = { kind: 'env', value: secret ?? '', scope: 'default' } as const;
      routes.push(routePlan(name, secret === undefined ? plan : { ...plan, secrets: [{ ref, expires_at: null }] }));
    }
  }
  return { routes, rejected };
};

type Subscribed = Served & { readonly write: (entries: unknown) => void; readonly file: string };

async function serveSubscriptions(t: TestContext, entries?: unknown, options: ServeOptions = {}): Promise<Subscribed> {
  const served = await serve(
    t,
    { routes: { fixed: { prompt: lowerTemplate('static').plan ?? [] } } },
    { lowerSubscriptions: lower, ...options },
  );
  const file = join(served.home, 'webhook_subscriptions.json');
  const write = (next: unknown): void => {
    writeFileSync(`${file}.new`, typeof next === 'string' ? next : JSON.stringify(next));
    renameSync(`${file}.new`, file);
  };
  if (entries !== undefined) write(entries);
  return { ...served, write, file };
}

const prompts = ({ dispatcher }: Served) => dispatcher.handed.map(({ dispatch }) => dispatch.prompt);

test('a written, changed or removed subscription affects the next request', async (t) => {
  const served = await serveSubscriptions(t);
  assert.equal((await served.post('/webhooks/mine', {})).status, 404);
  for (let i = 0; i < 50; i++) {
    served.write({ mine: { prompt: `version ${i}` } });
    assert.equal((await served.post('/webhooks/mine', {})).status, 202);
    assert.equal(prompts(served).at(-1), `version ${i}`);
  }
  served.write({});
  assert.equal((await served.post('/webhooks/mine', {})).status, 404);
  served.write({ mine: {} });
  assert.equal((await served.post('/webhooks/mine', {})).status, 202);
  rmSync(served.file);
  assert.equal((await served.post('/webhooks/mine', {})).status, 404);
});

test('changes of the same length, in place and within a tick of the file system, are detected', async (t) => {
  const served = await serveSubscriptions(t, { mine: { prompt: '00' } });
  for (let i = 10; i < 40; i++) {
    writeFileSync(served.file, JSON.stringify({ mine: { prompt: String(i) } }));
    await served.post('/webhooks/mine', {});
    assert.equal(prompts(served).at(-1), String(i));
  }
});

test('a static route wins over a dynamic one of its name', async (t) => {
  const served = await serveSubscriptions(t, { fixed: { prompt: 'dynamic' }, mine: {} });
  await served.post('/webhooks/fixed', {});
  assert.deepEqual(prompts(served), ['static']);
  assert.equal(served.gateway.status().subscriptions.serving, 1);
});

test('an invalid entry is quarantined and logged once, and the others are served', async (t) => {
  const served = await serveSubscriptions(t, { good: {}, bad: { promt: 'x' }, keyless: { secret: 'NONE' } });
  for (let i = 0; i < 3; i++) assert.equal((await served.post('/webhooks/good', {})).status, 202);
  assert.equal((await served.post('/webhooks/bad', {})).status, 404);
  assert.deepEqual(served.gateway.status().subscriptions, {
    serving: 1,
    quarantined: [
      { name: 'bad', reason: 'unknown key "promt"' },
      { name: 'keyless', reason: `route "keyless": env:NONE is not set in the environment or ${served.home}/.env` },
    ],
    error: null,
  });
  served.write({ good: { prompt: 'changed' }, bad: { promt: 'x' } });
  await served.post('/webhooks/good', {});
  const warnings = served.log.lines.filter(({ fields }) => fields.subscription !== undefined);
  assert.deepEqual(
    warnings.map(({ fields }) => fields.subscription),
    ['bad', 'keyless'],
  );
});

test('a file that is not JSON leaves the previous subscriptions in service', async (t) => {
  const served = await serveSubscriptions(t, { mine: {} });
  await served.post('/webhooks/mine', {});
  served.write('{"mine":');
  assert.equal((await served.post('/webhooks/mine', {})).status, 202);
  assert.match(served.gateway.status().subscriptions.error ?? '', /JSON/);
  served.write({ other: {} });
  assert.equal((await served.post('/webhooks/other', {})).status, 202);
  assert.equal((await served.post('/webhooks/mine', {})).status, 404);
  assert.equal(served.gateway.status().subscriptions.error, null);
});

test('an invalid file is logged once, and again after each change', async (t) => {
  const served = await serveSubscriptions(t, {});
  const said = (): number => served.log.lines.filter(({ message }) => message.includes('subscriptions')).length;
  const bad = 'a '.repeat(20);
  served.write(bad);
  for (let i = 0; i < 3; i++) await served.post('/webhooks/fixed', {});
  assert.equal(said(), 1);
  served.write(`${bad} `);
  for (let i = 0; i < 3; i++) await served.post('/webhooks/fixed', {});
  assert.equal(said(), 2);
});

test('a swapped table keeps the subscriptions, and its own routes hide those of the same name', async (t) => {
  const served = await serveSubscriptions(t, { mine: { prompt: 'dynamic' }, also: {} });
  await served.post('/webhooks/mine', {});
  served.writeTable({ routes: { mine: { prompt: lowerTemplate('now static').plan ?? [] } } });
  await served.gateway.reload();
  await served.post('/webhooks/mine', {});
  assert.equal(prompts(served).at(-1), 'now static');
  assert.equal((await served.post('/webhooks/also', {})).status, 202);
});

test('no request after a swap sees subscriptions older than those that were loaded during it', async (t) => {
  let during = async (): Promise<void> => {};
  const prepare = async () => {
    await during();
    return () => {};
  };
  let held: Promise<void> | null = null;
  const slowly: LowerSubscriptions = async (text, table) => {
    await held;
    return lower(text, table);
  };
  const served = await serveSubscriptions(t, {}, { prepare, lowerSubscriptions: slowly });
  // Requests do not wait for a file of this length.
  const pad = { prompt: 'x'.repeat(300_000) };
  const ask = async (): Promise<string | undefined> => {
    assert.equal((await served.post('/webhooks/mine', {})).status, 202);
    return prompts(served).at(-1);
  };
  served.write({ pad, mine: { prompt: 'first' } });
  assert.equal(await ask(), 'first');
  during = async () => {
    served.write({ pad, mine: { prompt: 'second' } });
    while ((await ask()) !== 'second');
  };
  served.writeTable({ routes: { fixed: { prompt: lowerTemplate('now').plan ?? [] } } });
  await served.gateway.reload();
  // Whatever is loaded from now on comes too late.
  let release = (): void => {};
  held = new Promise((resolve) => {
    release = resolve;
  });
  assert.equal(await ask(), 'second');
  release();
});

test('subscriptions are served from the start', async (t) => {
  const { tempDir } = await import('../../helpers/temp-dir.ts');
  const home = tempDir(t);
  writeFileSync(join(home, 'webhook_subscriptions.json'), '{"early":{}}');
  const { gateway } = await serve(t, {}, { home, lowerSubscriptions: lower });
  assert.equal(gateway.status().subscriptions.serving, 1);
});
