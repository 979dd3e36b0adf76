/** Batches: each item of a request is a separate event, one commit stores all, and one response answers for all. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RunAgent } from '../../../runtime/dispatch/agent-runner.ts';
import type { OperatedService } from '../../../runtime/service/options.ts';
import type { Store } from '../../../runtime/store/contract.ts';
import { httpTarget, startBatchService, statusesOf } from '../../helpers/batch-service.ts';
import { until } from '../../helpers/gateway.ts';

const item = (id: string, type = 'made', more: object = {}) => ({ id, type, ...more });
const batch = (...events: readonly unknown[]) => ({ name: 'n', events });
/** An agent that works until the service stops. */
const untilStopped: RunAgent = ({ signal }) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))));
const numbered = (count: number) => Array.from({ length: count }, (_, n) => item(`i${n}`));

describe('a batch', () => {
  it('is accepted item by item, with the id of each', async (t) => {
    const route = { events: ['made'], prompt: '{type} {id} of {batch.name}' };
    const { post, prompts } = await startBatchService(t, { route });
    const answer = await post(batch(item('1', 'other'), item('2'), item('3')));
    assert.equal(answer.status, 202);
    assert.deepEqual(answer.body, {
      status: 'accepted',
      route: 'feed',
      events: [
        { event: 'other', delivery_id: '1', status: 'ignored', reason: 'event' },
        { event: 'made', delivery_id: '2', status: 'accepted' },
        { event: 'made', delivery_id: '3', status: 'accepted' },
      ],
    });
    await until(async () => prompts.length === 2);
    assert.deepEqual(prompts.toSorted(), ['made 2 of n', 'made 3 of n']);
  });

  it('delivers an item that follows a known one', async (t) => {
    const { post } = await startBatchService(t);
    await post(batch(item('x1'), item('x2')));
    const answer = await post(batch(item('x1'), item('x9')));
    assert.deepEqual(statusesOf(answer), [
      ['x1', 'duplicate'],
      ['x9', 'accepted'],
    ]);
    assert.equal(answer.status, 202);
  });

  it('is a duplicate, or ignored, if all of its items are', async (t) => {
    const { post } = await startBatchService(t, { route: { events: ['made'] } });
    await post(batch(item('1'), item('2')));
    const again = await post(batch(item('2'), item('1')));
    assert.deepEqual([again.status, again.body.status], [200, 'duplicate']);
    const other = await post(batch(item('3', 'other'), item('1')));
    assert.deepEqual(
      [other.status, other.body.status, statusesOf(other)],
      [
        200,
        'ignored',
        [
          ['3', 'ignored'],
          ['1', 'duplicate'],
        ],
      ],
    );
    const empty = await post(batch());
    assert.deepEqual([empty.status, empty.body.status, empty.body.reason], [200, 'ignored', 'empty']);
  });

  it('takes an object in place of the list as its only item', async (t) => {
    const { post, prompts } = await startBatchService(t, { route: { prompt: '{id} of {batch.name}' } });
    const answer = await post({ name: 'n', events: item('x1') });
    assert.deepEqual(statusesOf(answer), [['x1', 'accepted']]);
    assert.equal((await post({ name: 'n', events: [item('x1')] })).body.status, 'duplicate');
    await until(async () => prompts.length === 1);
    assert.deepEqual(prompts, ['x1 of n']);
  });

  it('is the body itself, and its own root, if it has no list', async (t) => {
    const prompt = '{id} {batch.id} of {batch.name} {parent.id}';
    const { post, prompts } = await startBatchService(t, {
      route: { prompt, filters: [{ field: 'batch.name', equals: 'n' }] },
    });
    assert.equal((await post({ ...item('x1'), name: 'n' })).body.status, 'accepted');
    assert.equal((await post({ ...item('x2'), name: 'm' })).body.status, 'ignored');
    await until(async () => prompts.length === 1);
    assert.deepEqual(prompts, ['x1 x1 of n {parent.id}']);
  });

  it('of a sender without ids keeps items alike apart, and recognises the whole body', async (t) => {
    const { post } = await startBatchService(t, { source: { delivery: undefined, delivery_digest: true } });
    const body = batch(item('100', 'contact.creation'), item('100', 'deal.creation'), item('100', 'deal.creation'));
    const states = async () => statusesOf(await post(body)).map(([, status]) => status);
    assert.deepEqual(await states(), ['accepted', 'accepted', 'accepted']);
    assert.deepEqual(await states(), ['duplicate', 'duplicate', 'duplicate']);
  });

  it('gives items without an id that of the request and their index', async (t) => {
    const { post } = await startBatchService(t);
    const first = await post(batch({ type: 'a' }, item('own'), 'text', null, [1]), { 'x-batch': 'b1' });
    assert.deepEqual(
      statusesOf(first).map(([id]) => id),
      ['b1#0', 'own', 'b1#2', 'b1#3', 'b1#4'],
    );
    const again = await post(batch({ type: 'a' }, item('own'), 'text', null, [1], 'new'), { 'x-batch': 'b1' });
    assert.deepEqual(
      statusesOf(again).map(([, status]) => status),
      [...Array(5).fill('duplicate'), 'accepted'],
    );
    const unnamed = [await post(batch({ type: 'a' })), await post(batch({ type: 'a' }))];
    assert.deepEqual(
      unnamed.map(({ body }) => body.status),
      ['accepted', 'accepted'],
    );
  });

  it('finds an id that is twice in one request', async (t) => {
    const { post } = await startBatchService(t);
    assert.deepEqual(statusesOf(await post(batch(item('1'), item('1')))), [
      ['1', 'accepted'],
      ['1', 'duplicate'],
    ]);
  });

  it('has nested lists, whose items know the enclosing one', async (t) => {
    const route = { prompt: '{v} {parent.id} {batch.name} {.}', filters: { field: 'parent.id', not_equals: 'off' } };
    const { post, prompts } = await startBatchService(t, { source: { each: 'entry[].changes[]' }, route });
    const entry = [
      { id: 'e1', changes: [{ v: 1 }, { v: 2 }] },
      { id: 'off', changes: [{ v: 3 }] },
      { id: 'e3', type: 'alone' },
    ];
    const answer = await post({ name: 'n', entry }, { 'x-batch': 'b' });
    assert.deepEqual(statusesOf(answer), [
      ['b#0', 'accepted'],
      ['b#1', 'accepted'],
      ['b#2', 'ignored'],
      ['e3', 'accepted'],
    ]);
    await until(async () => prompts.length === 3);
    assert.deepEqual(prompts.toSorted(), ['1 e1 n {.}', '2 e1 n {.}', '{v} {parent.id} n {.}']);
  });

  it('may be the root of the body; a body without the list is one event', async (t) => {
    const { post, prompts } = await startBatchService(t, {
      source: { each: '[]' },
      route: { prompt: '{id} {batch.0.id}' },
    });
    assert.deepEqual(statusesOf(await post([item('1'), item('2')])), [
      ['1', 'accepted'],
      ['2', 'accepted'],
    ]);
    const single = await post(item('7'));
    assert.deepEqual(single.body, { status: 'accepted', route: 'feed', event: 'made', delivery_id: '7' });
    await until(async () => prompts.length === 3);
    assert.deepEqual(prompts.toSorted(), ['1 1', '2 1', '7 {batch.0.id}']);
  });

  it('shows an item, not the batch, where the payload is shown', async (t) => {
    const { post, prompts } = await startBatchService(t, { route: { prompt: '{__raw__}' } });
    await post(batch({ id: '1', deep: { a: [1] } }));
    await until(async () => prompts.length === 1);
    assert.deepEqual(JSON.parse(prompts[0] ?? ''), { id: '1', deep: { a: [1] } });
  });

  it('has at most `max_batch` items, 1000 by default, and takes one slot of `rate_limit`', async (t) => {
    const { post } = await startBatchService(t, { route: { rate_limit: 2 }, routes: { small: {} } });
    const most = await post(batch(...numbered(1000)));
    assert.deepEqual([most.status, most.body.events?.length], [202, 1000]);
    const tooLong = await post(batch(...numbered(1001)));
    assert.deepEqual([tooLong.status, tooLong.body.code], [413, 'payload_too_large']);
    assert.equal((await post(batch(item('n')))).status, 429);
  });

  for (const [where, setting] of [
    ['the source', { source: { max_batch: 2 }, webhook: { max_batch: 9 } }],
    ['all routes', { webhook: { max_batch: 2 } }],
  ] as const) {
    it(`has at most the items that ${where} allows`, async (t) => {
      const { post } = await startBatchService(t, setting);
      assert.equal((await post(batch(...numbered(2)))).status, 202);
      assert.equal((await post(batch(...numbered(3)))).status, 413);
    });
  }

  it('is refused if its prompts together are too long, and stores nothing', async (t) => {
    const { post, service } = await startBatchService(t, { route: { prompt: '{batch.text}' } });
    const answer = await post({ text: 'x'.repeat(200_000), events: numbered(400) });
    assert.deepEqual([answer.status, answer.body.code], [413, 'payload_too_large']);
    assert.equal(await countOf(service), 0);
  });

  it('is longer than the queue, but not accepted while the queue is full', async (t) => {
    const agent = untilStopped;
    const config = { gateway: { max_concurrent_runs: 1, max_queued_runs: 3 } };
    const { post, service } = await startBatchService(t, { agent, config });
    assert.equal((await post(batch(...numbered(10)))).status, 202);
    const full = await post(batch(item('a'), item('b')));
    assert.deepEqual([full.status, full.body.code], [503, 'overloaded']);
    assert.equal(await countOf(service), 10);
  });

  it('joins the groups of its items', async (t) => {
    const route = { prompt: '{id}', coalesce: { key: '{key}', window_seconds: 60 } };
    const { post } = await startBatchService(t, { route });
    const answer = await post(
      batch(item('1', 'a', { key: 'k' }), item('2', 'a', { key: 'l' }), item('3', 'a', { key: 'k' }), item('4')),
    );
    assert.deepEqual(
      answer.body.events?.map(({ status, superseded }) => [status, superseded]),
      [
        ['coalesced', 0],
        ['coalesced', 0],
        ['coalesced', 1],
        ['accepted', undefined],
      ],
    );
    const all = await post(batch(item('5', 'a', { key: 'k' })));
    assert.deepEqual([all.status, all.body.status], [202, 'coalesced']);
  });

  it('runs the items of one session in their order', async (t) => {
    const route = { prompt: '{id}', session_key: '{key}', loop_limit: 100 };
    const { post, prompts } = await startBatchService(t, { route });
    await post(batch(...numbered(30).map((one) => ({ ...one, key: 'k' }))));
    await until(async () => prompts.length === 30);
    assert.deepEqual(
      prompts,
      numbered(30).map(({ id }) => id),
    );
  });

  it('uses a budget up item by item', async (t) => {
    const { post } = await startBatchService(t, { route: { budget: { runs: 2, per: 'day' } } });
    const answer = await post(batch(...numbered(4)));
    assert.deepEqual(
      statusesOf(answer).map(([, status]) => status),
      ['accepted', 'accepted', 'ignored', 'ignored'],
    );
    assert.equal(answer.body.events?.[3]?.reason, 'budget');
  });

  it('fires a job once while it runs', async (t) => {
    const agent = untilStopped;
    const config = { jobs: { report: { schedule: '0 0 1 1 *', prompt: 'go', deliver: 'log' } } };
    const { post } = await startBatchService(t, { agent, config, route: { cron_job: 'report' } });
    const answer = await post(batch(item('1'), item('2')));
    assert.deepEqual(
      answer.body.events?.map(({ status, reason }) => [status, reason]),
      [
        ['accepted', undefined],
        ['accepted', 'job_already_running'],
      ],
    );
  });

  it('has a status URL for each accepted event, and is answered at once', async (t) => {
    const agent = untilStopped;
    const { post, url } = await startBatchService(t, { agent, route: { status_url: true } });
    const answer = await post(batch(item('1'), item('2')), { prefer: 'wait=30' });
    const urls = answer.body.events?.map(({ status_url }) => String(status_url)) ?? [];
    assert.equal(new Set(urls).size, 2);
    for (const at of urls) assert.equal((await fetch(url + at)).status, 200);
  });

  it('waits while its route is paused, each event by itself', async (t) => {
    const { post, prompts, service } = await startBatchService(t);
    const { store } = service as OperatedService;
    const pause = { kind: 'pause_route', profile: 'default', route: 'feed', until: null, now: Date.now() } as const;
    await store.write({ ...pause, paused: true });
    assert.equal((await post(batch(item('1'), item('2')))).status, 202);
    await store.write({ ...pause, paused: false });
    await post(batch(item('3')));
    await until(async () => prompts.length === 3);
  });

  it('is logged and counted event by event', async (t) => {
    const { post, lines, service } = await startBatchService(t, { route: { events: ['made'] } });
    await post(batch(item('1'), item('2', 'other'), item('3')));
    await until(async () => lines.some(({ fields }) => fields.delivery_id === '3'));
    const logged = lines.filter(({ fields }) => fields.outcome !== undefined);
    assert.deepEqual(
      logged.map(({ message, fields }) => [message, fields.delivery_id]),
      [
        ['accepted', '1'],
        ['ignored', '2'],
        ['accepted', '3'],
      ],
    );
    const { text } = await service.metrics();
    assert.match(text, /hookwright_\w*requests\w*\{[^}]*accepted[^}]*\} 2/);
  });
});

describe('a batch of direct deliveries', () => {
  it('answers 502 if one fails; a retry sends only what is missing', async (t) => {
    let isDown = true;
    const target = await httpTarget(t, ({ text }) => (text === 'bad' && isDown ? 500 : 200));
    const config = { platforms: { http: { enabled: true, url: target.url, allow_http: true, allow_private: true } } };
    const route = { prompt: '{text}', deliver: 'http', deliver_only: true };
    const { post } = await startBatchService(t, { config, route, webhook: { direct_timeout_seconds: 2 } });
    const events = [
      item('1', 'a', { text: 'one' }),
      item('2', 'a', { text: 'bad' }),
      item('3', 'a', { text: 'three' }),
    ];
    const failed = await post(batch(...events));
    assert.deepEqual([failed.status, failed.body.code], [502, 'delivery_failed']);
    assert.deepEqual(
      failed.body.events?.map(({ status, code }) => code ?? status),
      ['delivered', 'delivery_failed', 'delivered'],
    );
    isDown = false;
    const retry = await post(batch(...events));
    assert.deepEqual([retry.status, retry.body.status], [200, 'delivered']);
    assert.deepEqual(
      statusesOf(retry).map(([, status]) => status),
      ['duplicate', 'delivered', 'duplicate'],
    );
    assert.deepEqual(target.sent.filter((text) => text !== 'bad').toSorted(), ['one', 'three']);
  });
});

async function countOf(service: unknown): Promise<number> {
  const { store } = service as { readonly store: Store };
  return (await store.read({ kind: 'list', filter: { limit: 5000 } })).length;
}
