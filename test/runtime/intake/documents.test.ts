/** Tests the published blueprint catalog over HTTP. */
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { serve } from '../../helpers/serve.ts';

const CATALOG = '[{"key":"morning-brief","title":"Morning ☀"},\n{"key":"meal-plan","title":"Meals"}]\n';

test('the catalog and its entries are answered with CORS and a strong ETag', async (t) => {
  const { url, home } = await serve(t, {});
  writeFileSync(join(home, 'build', 'blueprints.json'), CATALOG);
  const all = await fetch(`${url}/blueprints`);
  assert.equal(all.status, 200);
  assert.equal(all.headers.get('content-type'), 'application/json');
  assert.equal(all.headers.get('access-control-allow-origin'), '*');
  assert.match(all.headers.get('etag') ?? '', /^"[A-Za-z0-9_-]{43}"$/);
  assert.equal(await all.text(), CATALOG);
  const one = await fetch(`${url}/blueprints/meal-plan`);
  assert.deepEqual(await one.json(), { key: 'meal-plan', title: 'Meals' });
  assert.notEqual(one.headers.get('etag'), all.headers.get('etag'));
});

test('a client with the current version gets 304 without a body', async (t) => {
  const { url, home } = await serve(t, {});
  writeFileSync(join(home, 'build', 'blueprints.json'), CATALOG);
  const etag = (await fetch(`${url}/blueprints`)).headers.get('etag') ?? '';
  for (const known of [etag, `"other", ${etag}`, `W/${etag}`, '*']) {
    const response = await fetch(`${url}/blueprints`, { headers: { 'if-none-match': known } });
    assert.equal(response.status, 304, known);
    assert.equal(response.headers.get('etag'), etag);
    assert.equal(response.headers.get('access-control-allow-origin'), '*');
    assert.equal(await response.text(), '');
  }
  assert.equal((await fetch(`${url}/blueprints`, { headers: { 'if-none-match': '"other"' } })).status, 200);
});

test('a changed catalog is served immediately, an invalid one never', async (t) => {
  const { url, home, log } = await serve(t, {});
  const file = join(home, 'build', 'blueprints.json');
  assert.equal((await fetch(`${url}/blueprints`)).status, 404);
  writeFileSync(file, '[]');
  assert.equal(await (await fetch(`${url}/blueprints`)).text(), '[]');
  writeFileSync(file, CATALOG);
  assert.equal((await fetch(`${url}/blueprints/meal-plan`)).status, 200);
  writeFileSync(file, '{"key":');
  assert.equal((await fetch(`${url}/blueprints/meal-plan`)).status, 200);
  assert(log.lines.some(({ level, fields }) => level === 'error' && String(fields.file).endsWith('blueprints.json')));
  rmSync(file);
  assert.equal((await fetch(`${url}/blueprints/meal-plan`)).status, 404);
});

test('unknown entries and invalid keys get the same 404 as any path', async (t) => {
  const { url, home } = await serve(t, {});
  writeFileSync(join(home, 'build', 'blueprints.json'), CATALOG);
  for (const path of [
    '/blueprints/',
    '/blueprints/none',
    '/blueprints/__proto__',
    '/blueprints/meal-plan/',
    '/blueprintsx',
  ]) {
    const response = await fetch(url + path);
    assert.equal(response.status, 404, path);
    assert.equal(((await response.json()) as { code: string }).code, 'unknown_route');
  }
});

test('the catalog responds only to GET and HEAD', async (t) => {
  const { url, home } = await serve(t, {});
  writeFileSync(join(home, 'build', 'blueprints.json'), CATALOG);
  const head = await fetch(`${url}/blueprints`, { method: 'HEAD' });
  assert.equal(head.headers.get('content-length'), String(Buffer.byteLength(CATALOG)));
  assert.equal((await fetch(`${url}/blueprints`, { method: 'POST' })).headers.get('allow'), 'GET, HEAD');
});
