/** Tests which parts of a request are captured. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { lowerFilters } from '../../../../compiler/lower/filter.ts';
import { nextStep } from '../../../../modules/workbench/cli/requests/print-request.ts';
import { credentialPlaces, withoutCredentials } from '../../../../modules/workbench/runtime/capture/record.ts';
import { isMarker } from '../../../../modules/workbench/runtime/removed.ts';
import { Redactor } from '../../../../runtime/deliver/redact.ts';
import { cpuTime } from '../../../helpers/cpu-time.ts';
import { FakeClock } from '../../../helpers/fake-clock.ts';
import { serveKeeping } from '../../../helpers/keeping.ts';
import { SECRET } from '../../../helpers/route-table.ts';
import { signed } from '../../../helpers/serve.ts';

const onlyMain = lowerFilters({ field: 'branch', equals: 'main' }).plan;

test('restricts the permissions of an existing file before capturing', async (t) => {
  const { post, last, path } = await serveKeeping(t, { routes: { ci: {} } });
  writeFileSync(path, '', { mode: 0o644 });
  await post('/webhooks/ci', '{}');
  assert.equal((await last()).outcome, 'accepted');
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test('captures an accepted request unchanged, with its outcome', async (t) => {
  const { post, last, dispatcher } = await serveKeeping(t, { routes: { ci: {} } });
  const body = '{"branch": "main",  "n": 1}';
  await post('/webhooks/ci?x=1', body, { 'X-GitHub-Event': 'push', 'X-GitHub-Delivery': 'd-1' });
  const captured = await last();
  assert.equal(Buffer.from(captured.body ?? '', 'base64').toString(), body);
  assert.deepEqual(
    [
      captured.route,
      captured.method,
      captured.path,
      captured.outcome,
      captured.status,
      captured.stage,
      captured.reason,
    ],
    ['ci', 'POST', '/webhooks/ci?x=1', 'accepted', 202, 'dispatch', null],
  );
  assert.deepEqual(
    [captured.event, captured.delivery_id, captured.verified, captured.body_bytes],
    ['push', 'd-1', true, body.length],
  );
  assert.equal(captured.dispatch_id, dispatcher.handed[0]?.dispatch.id);
  assert.deepEqual(
    new Map(captured.headers.map(([name, value]) => [name.toLowerCase(), value])).get('x-github-event'),
    'push',
  );
});

test('captures an ignored event with the filter that decided', async (t) => {
  const { post, last, log } = await serveKeeping(t, { routes: { ci: { filters: onlyMain } } });
  await post('/webhooks/ci', { branch: 'dev' });
  const captured = await last();
  assert.deepEqual([captured.outcome, captured.stage, captured.reason], ['ignored', 'filter', 'filter']);
  assert.deepEqual(captured.about, {
    kind: 'filter',
    at: 'filters',
    field: 'branch',
    operator: 'equals',
    found: 'string',
  });
  const line = log.lines.find(({ fields }) => fields.outcome === 'ignored');
  assert.equal(line?.fields.request, captured.id);
});

test('captures a request without a valid signature without its body, and with the cause', async (t) => {
  const { post, last } = await serveKeeping(t, { routes: { ci: {} } });
  const body = '{"a":1}';
  await post('/webhooks/ci', body, { ...signed('{"a": 1}') });
  const captured = await last();
  assert.deepEqual(
    [captured.outcome, captured.verified, captured.body, captured.body_bytes],
    ['invalid_signature', false, null, 7],
  );
  assert.equal(captured.body_sha256, createHash('sha256').update(body).digest('hex'));
  assert.equal(captured.cause?.code, 'body_rewritten');
});

test('replaces credentials by their kind', async (t) => {
  const { post, last, path, capture } = await serveKeeping(t, { routes: { ci: {} } });
  const canary = 'canary-4711-0815';
  const headers = {
    Authorization: `Bearer ${canary}`,
    Cookie: `sid=${canary}`,
    'X-Gitlab-Token': canary,
    'X-Our-Api-Key': canary,
  };
  await post(`/webhooks/ci?access_token=${canary}&page=2&%73ig=${canary}`, {}, headers);
  const captured = await last();
  const marked = captured.headers.filter(([, value]) => isMarker(value)).map(([name]) => name.toLowerCase());
  assert.deepEqual(marked.sort(), [
    'authorization',
    'cookie',
    'x-gitlab-token',
    'x-hub-signature-256',
    'x-our-api-key',
  ]);
  assert.match(captured.path, /^\/webhooks\/ci\?access_token=\S*removed\S*&page=2&%73ig=\S*removed/);
  assert(!JSON.stringify(captured).includes(canary));
  await capture.close();
  assert(!readFileSync(path, 'latin1').includes(canary));
});

/** Sent as a query, or in a header. A marker replaces the canary. */
const CANARY = 'canary-4711-0815';
const SECRET_NAMES =
  'token access_token api_key key secret password sig signature api-key apikey client_secret auth auth_token jwt pwd passwd code hmac ' +
  'X-Amz-Signature token[] tok%65n%5B%5D AccessKey Ocp-Apim-Subscription-Key';

test('recognises credentials in queries like in headers, also after a semicolon and within headers', async (t) => {
  const { post, last } = await serveKeeping(t, { routes: { ci: {} }, gateway: { capture_per_second: 1000 } });
  for (const name of SECRET_NAMES.split(' ')) {
    for (const query of [`?page=2&${name}=${CANARY}`, `?page=2;${name}=${CANARY};more`, `?${name}=a?b;c=${CANARY}`]) {
      await post(
        `/webhooks/ci${query}`,
        {},
        { 'X-Original-URL': `/webhooks/ci${query}`, Referer: `https://x.test/a${query}#b` },
      );
      const text = JSON.stringify(await last());
      assert(!text.includes(CANARY), text);
      assert(query.startsWith(`?${name}`) || text.includes('?page=2'), text);
    }
  }
});

test('removes credentials in URLs of headers, and in headers that proxies add', async (t) => {
  const { post, last } = await serveKeeping(t, { routes: { ci: {} } });
  const headers = {
    'X-Forwarded-Uri': `/a?x=1&token=${CANARY}&y=2`,
    'X-Origin': `https://u:p@${CANARY}@host.test/b`,
    Link: `<https://h.test/?sig=${CANARY}>; rel="next"`,
    'Ocp-Apim-Subscription-Key': CANARY,
    'X-Amzn-Oidc-Data': CANARY,
    'X-Author': 'ada',
    'X-Page': 'https://h.test/tokens/a=b?author=ada&zip=1#x=y',
  };
  await post('/webhooks/ci', {}, headers);
  const captured = await last();
  assert(!JSON.stringify(captured).includes(CANARY), JSON.stringify(captured.headers));
  const shown = new Map(captured.headers.map(([name, value]) => [name.toLowerCase(), value]));
  assert.match(shown.get('x-forwarded-uri') ?? '', /^\/a\?x=1&token=\S*removed\S*&y=2$/);
  assert.match(shown.get('x-origin') ?? '', /^https:\/\/\S*removed\S*@host\.test\/b$/);
  assert.equal(shown.get('x-author'), 'ada');
  assert.equal(shown.get('x-page'), headers['X-Page']);
});

test('searches a long value only once', () => {
  const value = `=${'a'.repeat(500_000)}${'=a'.repeat(100_000)}`;
  const ms = cpuTime(() => assert(withoutCredentials(['x-long', value], credentialPlaces([]))[0]?.[1] === value));
  assert(ms < 5000, `${ms} ms`);
});

test('removes secrets of the configuration from all places', async (t) => {
  const { post, last } = await serveKeeping(t, { routes: { ci: {} } }, { redactor: knowing(SECRET) });
  await post('/webhooks/ci', { note: SECRET }, { 'X-Note': SECRET });
  const captured = await last();
  assert(!JSON.stringify(captured).includes(SECRET));
  assert.equal(Buffer.from(captured.body ?? '', 'base64').toString(), '{"note":"***"}');
});

test('`problems` captures only requests that were not accepted, `none` captures nothing', async (t) => {
  const { post, list } = await serveKeeping(t, {
    routes: { ci: { capture: 'problems', filters: onlyMain }, quiet: { capture: 'none' } },
  });
  await post('/webhooks/ci', { branch: 'main' });
  await post('/webhooks/ci', { branch: 'dev' });
  await post('/webhooks/quiet', {});
  assert.deepEqual(
    (await list()).map(({ outcome }) => outcome),
    ['ignored'],
  );
});

test('a route over its rate prefers requests that were not accepted, and counts the others', async (t) => {
  const clock = new FakeClock();
  const parts = { routes: { ci: { filters: onlyMain } }, gateway: { capture_per_second: 3 } };
  const { post, list, counts } = await serveKeeping(t, parts, { clock });
  for (let n = 0; n < 5; n++) await post('/webhooks/ci', { branch: 'main', n });
  for (let n = 0; n < 2; n++) await post('/webhooks/ci', { branch: 'dev', n });
  const outcomes = (await list()).map(({ outcome }) => outcome);
  assert.deepEqual(outcomes, ['ignored', 'ignored', 'accepted']);
  assert.deepEqual([counts.kept, counts.dropped.rate], [3, 4]);
  clock.advance(1000);
  await post('/webhooks/ci', { branch: 'main' });
  assert.equal((await list()).length, 4);
});

test('captures a few unsigned requests a minute', async (t) => {
  const clock = new FakeClock();
  const { post, list } = await serveKeeping(t, { routes: { ci: {} } }, { clock });
  const send = () => post('/webhooks/ci', {}, { 'x-hub-signature-256': 'sha256=00' });
  for (let n = 0; n < 9; n++) await send();
  assert.equal((await list()).length, 5);
  clock.advance(60_000);
  await send();
  assert.equal((await list()).length, 6);
});

test('removes expired requests, and the oldest when the file is full', async (t) => {
  const clock = new FakeClock();
  const gateway = { capture_days: 1, capture_max_mb: 1, capture_per_second: 1000 };
  const { post, list, capture } = await serveKeeping(t, { routes: { ci: {} }, gateway }, { clock });
  await post('/webhooks/ci', { n: 'old' });
  await clock.run(25 * 3_600_000);
  await capture.flush();
  assert.deepEqual(await list(), []);
  for (let n = 0; n < 40; n++) await post('/webhooks/ci', { n, text: 'x'.repeat(100_000) });
  await capture.flush();
  const left = await list();
  assert(left.length > 0 && left.length < 11, `${left.length} are left`);
  const newest = await capture.requests.load(left[0]?.id ?? '');
  assert(newest.kind === 'found' && Buffer.from(newest.request.body ?? '', 'base64').includes('"n":39'));
});

test('counts requests that the disk rejects or is too slow for; answers do not wait', async (t) => {
  let take = (): void => {};
  let isStuck = true;
  const store = () =>
    new Promise<{ stored: number; lost: null }>((resolve) => {
      take = () => resolve({ stored: 0, lost: null });
      if (!isStuck) take();
    });
  const clock = new FakeClock();
  const parts = { routes: { ci: {} }, gateway: { capture_per_second: 1000 } };
  const { post, counts } = await serveKeeping(t, parts, { store, clock });
  const text = 'x'.repeat(1_000_000);
  for (let n = 0; n < 20; n++) {
    assert.equal((await post('/webhooks/ci', { n, text })).status, 202);
    clock.advance(1000);
  }
  assert(counts.dropped.queue >= 3, `${counts.dropped.queue} were dropped`);
  isStuck = false;
  take();
});

test('replaces a file that is removed or damaged', async (t) => {
  const { post, list, path, capture } = await serveKeeping(t, { routes: { ci: {} } });
  await post('/webhooks/ci', { n: 1 });
  assert.equal((await list()).length, 1);
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
  await post('/webhooks/ci', { n: 2 });
  assert.equal((await list()).length, 1);
  await capture.close();
  const again = await serveKeeping(t, { routes: { ci: {} } });
  writeFileSync(again.path, 'no database at all '.repeat(100));
  await again.post('/webhooks/ci', { n: 3 });
  assert.equal((await again.list()).length, 1);
});

test('filters and pages lists, newest first', async (t) => {
  const { post, list, capture } = await serveKeeping(t, { routes: { ci: { filters: onlyMain }, other: {} } });
  for (let n = 0; n < 4; n++) await post('/webhooks/ci', { branch: n % 2 === 0 ? 'main' : 'dev', n });
  await post('/webhooks/other', { text: 'Needle_100%' }, { 'X-GitHub-Event': 'push' });
  const all = await list();
  assert.deepEqual(
    all.map(({ route }) => route),
    ['other', 'ci', 'ci', 'ci', 'ci'],
  );
  assert.equal((await list({ route: 'ci', outcome: 'ignored' })).length, 2);
  assert.equal((await list({ reason: 'filter' })).length, 2);
  assert.equal((await list({ grep: 'needle_100%' })).length, 1);
  assert.equal((await list({ grep: 'needle%100' })).length, 0);
  assert.equal((await list({ since: Date.now() + 1000 })).length, 0);
  const first = await capture.requests.list({}, { limit: 2 });
  const older = await capture.requests.list({}, { limit: 9, before: first[1]?.id ?? '' });
  assert.deepEqual([...first, ...older], all);
  const newer = await capture.requests.list({}, { limit: 9, after: all[2]?.id ?? '' });
  assert.deepEqual(newer, [all[1], all[0]]);
});

test('finds a request by an unambiguous beginning of its id', async (t) => {
  const { post, list, capture } = await serveKeeping(t, { routes: { ci: {} } });
  await post('/webhooks/ci', { n: 1 });
  await post('/webhooks/ci', { n: 2 });
  const [newest] = await list();
  const id = newest?.id ?? '';
  assert.equal((await capture.requests.load(id)).kind, 'found');
  assert.equal((await capture.requests.load(id.slice(0, 2))).kind, 'ambiguous');
  assert.equal((await capture.requests.load('zzz')).kind, 'unknown');
  assert.equal((await capture.requests.load("'; DROP")).kind, 'unknown');
});

test('a restarted writer requests all secrets before it stores anything', async (t) => {
  const { post, list, last } = await serveKeeping(
    t,
    { routes: { ci: {} } },
    { redactor: knowing(SECRET), forgets: true },
  );
  await post('/webhooks/ci', { n: 1 });
  await list();
  await post('/webhooks/ci', { note: SECRET });
  assert.equal(Buffer.from((await last()).body ?? '', 'base64').toString(), '{"note":"***"}');
  assert.equal((await list()).length, 2);
});

function knowing(secret: string): Redactor {
  const redactor = new Redactor();
  redactor.add([secret]);
  return redactor;
}

test('captures an event for an unknown path without body and credentials, five a minute', async (t) => {
  const clock = new FakeClock();
  const { url, list, last } = await serveKeeping(t, { routes: { ci: {} } }, { clock });
  const headers = { ...signed('{}'), Authorization: 'Bearer hidden' };
  for (let count = 0; count < 8; count++)
    await fetch(`${url}/hooks/CI?token=hidden`, { method: 'POST', body: '{"a":"hidden"}', headers });
  await fetch(`${url}/hooks/ci`);
  const captured = await list({ outcome: 'unknown_route' });
  assert.equal(captured.length, 5);
  const { route, method, path, status, verified, body_bytes } = captured[0] ?? {};
  assert.deepEqual([route, method, status, verified, body_bytes], ['', 'POST', 404, false, null]);
  assert(path?.startsWith('/hooks/CI?token='));
  const whole = await last();
  assert.deepEqual(whole.about, { kind: 'text', text: 'the nearest route is /webhooks/ci' });
  assert.equal(whole.body, null);
  assert(!JSON.stringify(whole).includes('hidden'));
  assert((nextStep({ ...whole, isSubscription: false }) ?? '').includes('/webhooks/ci'));
});
