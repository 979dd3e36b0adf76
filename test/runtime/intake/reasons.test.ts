/** Tests the log lines of rejected and ignored events: they show the reason, and nothing of the payload. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { lowerFilters } from '../../../compiler/lower/filter.ts';
import { lowerEvents } from '../../../compiler/lower/route.ts';
import { lowerTemplate } from '../../../compiler/lower/template.ts';
import type { FilterConfig } from '../../../schemas/generated/types.ts';
import { SECRET } from '../../helpers/route-table.ts';
import type { Served } from '../../helpers/serve.ts';
import { serve } from '../../helpers/serve.ts';

const EVENT = { 'x-github-event': 'push', 'x-github-delivery': 'id-1' };
const filters = (list: readonly FilterConfig[]) => lowerFilters([...list]).plan;

/** Without the fields of every line. */
function lastLine({ log }: Pick<Served, 'log'>, message: string): Readonly<Record<string, unknown>> {
  const line = log.lines.findLast((each) => each.message === message);
  const { route, event, delivery_id, outcome, ms, ...fields } = line?.fields ?? {};
  return fields;
}

const FILTERS: readonly (readonly [what: string, list: readonly FilterConfig[], expected: unknown])[] = [
  [
    'the first leaf that fails',
    [
      { field: 'action', equals: 'opened' },
      { field: 'pull.draft', equals: false },
    ],
    { filter: 'filters[1]', field: 'pull.draft', operator: 'equals', found: 'boolean' },
  ],
  [
    'a field that is missing',
    [{ field: 'none.at.all', exists: true }],
    { filter: 'filters[0]', field: 'none.at.all', operator: 'exists', found: 'missing' },
  ],
  [
    'a leaf below groups',
    [
      {
        any: [
          {
            all: [
              { field: 'action', exists: true },
              { field: 'event', equals: 'tag' },
            ],
          },
        ],
      },
    ],
    { filter: 'filters[0].any[0].all[1]', field: 'event', operator: 'equals', found: 'string' },
  ],
  [
    'the leaf below a not',
    [
      {
        not: {
          any: [
            { field: 'pull', missing: true },
            { field: 'headers.X-GitHub-Event', equals: 'push' },
          ],
        },
      },
    ],
    { filter: 'filters[0].not.any[1]', field: 'headers.x-github-event', operator: 'equals', found: 'string' },
  ],
  [
    'a list, not what it holds',
    [{ field: 'payload.labels', contains: 'bug' }],
    { filter: 'filters[0]', field: 'payload.labels', operator: 'contains', found: 'list' },
  ],
];

for (const [what, list, expected] of FILTERS) {
  test(`an event rejected by filters is logged with ${what}`, async (t) => {
    const served = await serve(t, { routes: { ci: { filters: filters(list) } } });
    const payload = { action: 'opened', pull: { draft: true }, labels: ['canary-label'] };
    assert.equal((await served.post('/webhooks/ci', payload, EVENT)).body.reason, 'filter');
    assert.deepEqual(lastLine(served, 'ignored'), { reason: 'filter', ...(expected as object) });
    assert.doesNotMatch(JSON.stringify(served.log.lines), /canary-label/);
  });
}

test('an event that matches no entry is logged with the entries as written', async (t) => {
  const served = await serve(t, { routes: { ci: { events: lowerEvents(['issues', 'pull_request*']).plan } } });
  await served.post('/webhooks/ci', {}, EVENT);
  assert.deepEqual(lastLine(served, 'ignored'), { reason: 'event', accepts: ['issues', 'pull_request*'] });
});

test('an accepted event is logged with the placeholders of its prompt that did not resolve', async (t) => {
  const prompt = lowerTemplate('{a.b} {action} {c}').plan ?? [];
  const served = await serve(t, { routes: { ci: { prompt } } });
  await served.post('/webhooks/ci', { action: 'opened' }, EVENT);
  assert.deepEqual(lastLine(served, 'accepted'), { unresolved: ['{a.b}', '{c}'] });
  await served.post('/webhooks/ci', { action: 'opened', a: { b: 1 }, c: null }, { 'x-github-event': 'push' });
  assert.deepEqual(lastLine(served, 'accepted'), {});
});

test('a rejected signature is logged with the sent event and id, and the searched locations', async (t) => {
  const served = await serve(t, { routes: { ci: { schemes: ['github', 'generic-v2'] } } });
  const send = (headers: Record<string, string>) =>
    fetch(`${served.url}/webhooks/ci`, { method: 'POST', body: '{}', headers });
  await send(EVENT);
  const unsigned = lastLine(served, 'invalid_signature');
  assert.equal(unsigned.reason, 'missing_signature');
  assert.deepEqual(unsigned.looked_for, ['x-hub-signature-256', 'x-webhook-signature-v2']);
  assert.deepEqual(unsigned.unverified, { event: 'push', delivery_id: 'id-1' });
  assert.match(String(unsigned.hint), /source detect/);

  const stamp = Math.floor(Date.now() / 1000) - 1000;
  const digest = createHmac('sha256', SECRET).update(`${stamp}.{}`).digest('hex');
  await send({ 'x-webhook-signature-v2': digest, 'x-webhook-timestamp': String(stamp) });
  const stale = lastLine(served, 'invalid_signature');
  assert.equal(stale.reason, 'stale_timestamp');
  assert.deepEqual(stale.looked_for, ['x-webhook-signature-v2']);
  assert(Math.abs(Number(stale.age_seconds) - 1000) <= 60, String(stale.age_seconds));
  assert.equal(stale.unverified, undefined);
});
