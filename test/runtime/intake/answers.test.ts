/** Tests every response of the HTTP contract, over a real connection. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lowerFilters } from '../../../compiler/lower/filter.ts';
import { lowerEvents } from '../../../compiler/lower/route.ts';
import { lowerCoalesceKey, lowerTemplate } from '../../../compiler/lower/template.ts';
import { FakeClock } from '../../helpers/fake-clock.ts';
import { answerOf, sendRaw, serve, signed } from '../../helpers/serve.ts';

const template = (text: string) => lowerTemplate(text).plan ?? [];
const EVENT = { 'x-github-event': 'push', 'x-github-delivery': 'id-1' };
/** The code of an error, which also has a sentence. */
function errorCode(body: unknown): string {
  const { status, error, code, ...others } = body as Record<string, unknown>;
  assert.deepEqual([status, typeof error, others], ['error', 'string', {}]);
  return String(code);
}

test('an agent route stores the dispatch and responds 202 accepted', async (t) => {
  const { post, dispatcher } = await serve(t, {
    routes: { ci: { prompt: template('{repository.name}: {__raw__}'), skills: ['review'], max_concurrent: 2 } },
  });
  const { status, body } = await post('/webhooks/ci', { repository: { name: 'shop' } }, EVENT);
  assert.equal(status, 202);
  assert.deepEqual(body, { status: 'accepted', route: 'ci', event: 'push', delivery_id: 'id-1' });
  const [handed] = dispatcher.handed;
  assert(handed !== undefined);
  const { id, accepted_at, ...dispatch } = handed.dispatch;
  assert.match(id, /^[0-9a-z]{24}$/);
  assert(accepted_at <= Date.now());
  assert.deepEqual(dispatch, {
    mode: 'agent',
    profile: 'default',
    route: 'ci',
    job: null,
    event: 'push',
    delivery_id: 'id-1',
    due_at: null,
    prompt: 'shop: {\n  "repository": {\n    "name": "shop"\n  }\n}',
    agent: null,
    skills: ['review'],
    toolsets: ['web_search'],
    session_key: null,
    session: 'webhook:ci:id-1',
    deliveries: [{ target: 'log', extra: {}, unresolved: [] }],
    mirror_to_session: false,
    superseded: 0,
    replay_of: null,
  });
  assert.equal(handed.maxConcurrent, 2);
  assert.deepEqual(handed.claim, {
    profile: 'default',
    route: 'ci',
    delivery_id: 'id-1',
    generated: false,
    ttl_ms: 3_600_000,
    wait_ms: 2500,
  });
});

test('long keys become distinct digests', async (t) => {
  const key = lowerCoalesceKey('key').plan ?? [];
  const coalesce = { key, window_seconds: 30, max_wait_seconds: 300 };
  const { post, dispatcher } = await serve(t, { routes: { pr: { coalesce, session: { key, scope: null } } } });
  const long = 'x'.repeat(500_000);
  for (const sent of ['x'.repeat(256), long, long, `${long}y`]) await post('/webhooks/pr', { key: sent });
  const keys = dispatcher.handed.map(({ group, dispatch }) => [group?.key, dispatch.session_key, dispatch.session]);
  const [short, first, again, other] = keys;
  assert.equal(short?.[0], 'x'.repeat(256));
  assert.match(first?.[0] ?? '', /^sha256:[0-9a-f]{64}$/);
  assert.deepEqual(first, [first?.[0], first?.[0], `webhook:pr:${first?.[0]}`]);
  assert.deepEqual(again, first);
  assert.notEqual(other?.[0], first?.[0]);
});

test('a coalesced event gets 202 with the event that it replaced', async (t) => {
  const coalesce = { key: lowerCoalesceKey('number').plan ?? [], window_seconds: 30, max_wait_seconds: 300 };
  const { post, dispatcher } = await serve(t, { routes: { pr: { coalesce } } });
  await post('/webhooks/pr', { number: 7 });
  const { status, body } = await post('/webhooks/pr', { number: 7 }, EVENT);
  assert.equal(status, 202);
  assert.deepEqual(body, { status: 'coalesced', route: 'pr', event: 'push', delivery_id: 'id-1', superseded: 1 });
  assert.deepEqual(dispatcher.handed[1]?.group, { key: '7', window_ms: 30_000, max_wait_ms: 300_000 });
});

test('an event without its coalesce key is dispatched immediately', async (t) => {
  const coalesce = { key: lowerCoalesceKey('number').plan ?? [], window_seconds: 30, max_wait_seconds: 300 };
  const { post, dispatcher } = await serve(t, { routes: { pr: { coalesce } } });
  const { body } = await post('/webhooks/pr', {});
  assert.equal(body.status, 'accepted');
  assert.equal(dispatcher.handed[0]?.kind, 'accept');
});

const DIRECT = {
  mode: 'direct',
  deliver: [{ target: 'messenger_a', extra: { chat_id: template('{chat}'), thread: template('{thread.id}') } }],
} as const;

test('a direct delivery gets 200 delivered with its target', async (t) => {
  const { post, dispatcher } = await serve(t, { routes: { ops: { ...DIRECT, deliver: [...DIRECT.deliver] } } });
  const { status, body } = await post('/webhooks/ops', { chat: -100 }, EVENT);
  assert.equal(status, 200);
  assert.deepEqual(body, { status: 'delivered', route: 'ops', target: 'messenger_a', delivery_id: 'id-1' });
  const handed = dispatcher.handed[0];
  assert.equal(handed?.timeoutMs, 10_000);
  assert.deepEqual(handed?.dispatch.deliveries, [
    { target: 'messenger_a', extra: { chat_id: '-100', thread: '{thread.id}' }, unresolved: ['thread'] },
  ]);
  assert.deepEqual([handed?.dispatch.skills, handed?.dispatch.toolsets], [[], []]);
});

test('a failed direct delivery gets 502 without a reason, and its repeat is delivered', async (t) => {
  const { post, dispatcher } = await serve(t, { routes: { ops: { ...DIRECT, deliver: [...DIRECT.deliver] } } });
  dispatcher.failing.add('messenger_a');
  const { status, body } = await post('/webhooks/ops', { chat: 1 }, EVENT);
  assert.equal(status, 502);
  const { delivery_id, ...failed } = body;
  assert.deepEqual([errorCode(failed), delivery_id], ['delivery_failed', 'id-1']);
  dispatcher.failing.clear();
  assert.equal((await post('/webhooks/ops', { chat: 1 }, EVENT)).body.status, 'delivered');
});

test('with several targets the response has each result, and one failure fails the delivery', async (t) => {
  const deliver = [...DIRECT.deliver, { target: 'email', extra: {} }];
  const { post, dispatcher } = await serve(t, { routes: { ops: { ...DIRECT, deliver } } });
  const { status, body } = await post('/webhooks/ops', { chat: 1 }, EVENT);
  assert.equal(status, 200);
  assert.equal(body.target, 'messenger_a,email');
  const both = [
    { target: 'messenger_a', ok: true },
    { target: 'email', ok: true },
  ];
  assert.deepEqual(body.results, both);
  dispatcher.failing.add('email');
  const failed = await post('/webhooks/ops', { chat: 1 }, { ...EVENT, 'x-github-delivery': 'id-2' });
  assert.equal(failed.status, 502);
  assert.deepEqual(failed.body.results, [both[0], { target: 'email', ok: false }]);
});

const JOB = { mode: 'cron', cron_job: 'nightly', deliver: [] } as const;
const jobAnswers = [
  ['accepted', 202, { status: 'accepted', route: 'job', event: 'push', delivery_id: 'id-1', cron_job: 'nightly' }],
  [
    'already_running',
    202,
    {
      ...{ status: 'accepted', route: 'job', event: 'push', delivery_id: 'id-1', cron_job: 'nightly' },
      reason: 'job_already_running',
    },
  ],
  ['paused', 200, { status: 'ignored', reason: 'job_paused', route: 'job', event: 'push' }],
  ['unknown_job', 200, { status: 'ignored', reason: 'job_unknown', route: 'job', event: 'push' }],
] as const;

for (const [fired, status, body] of jobAnswers) {
  test(`a cron_job route whose job is ${fired} responds ${status} ${body.status}`, async (t) => {
    const { post, dispatcher } = await serve(t, { routes: { job: { ...JOB, deliver: [] } } });
    dispatcher.fired = fired;
    const answer = await post('/webhooks/job', {}, EVENT);
    assert.equal(answer.status, status);
    assert.deepEqual(answer.body, body);
    assert.equal(dispatcher.handed[0]?.dispatch.mode, 'job');
    assert.equal(dispatcher.handed[0]?.dispatch.job, 'nightly');
  });
}

test('a repeat gets 200 duplicate and is not dispatched', async (t) => {
  const { post, dispatcher } = await serve(t, { routes: { ci: {} } });
  await post('/webhooks/ci', {}, EVENT);
  const { status, body } = await post('/webhooks/ci', {}, EVENT);
  assert.equal(status, 200);
  assert.deepEqual(body, { status: 'duplicate', route: 'ci', delivery_id: 'id-1' });
  assert.equal(dispatcher.handed.length, 1);
});

test('events without an id are never duplicates', async (t) => {
  const { post, dispatcher } = await serve(t, { routes: { ci: {} } });
  const answers = await Promise.all([post('/webhooks/ci', {}), post('/webhooks/ci', {})]);
  assert.deepEqual(
    answers.map(({ body }) => body.status),
    ['accepted', 'accepted'],
  );
  assert.match(String(answers[0]?.body.delivery_id), /^\d{13}-[0-9a-f]{12}$/);
  assert.notEqual(answers[0]?.body.delivery_id, answers[1]?.body.delivery_id);
  assert.equal(dispatcher.handed[0]?.claim.generated, true);
});

test('an event type not in the list, or a payload that the filters reject, is ignored', async (t) => {
  const events = lowerEvents(['pull_request', 'issue*']).plan;
  const filters = lowerFilters({ field: 'action', equals: 'opened' } as never).plan;
  const { post, dispatcher } = await serve(t, { routes: { ci: { events, filters } } });
  const push = await post('/webhooks/ci', { action: 'opened' }, EVENT);
  assert.deepEqual(push.body, { status: 'ignored', reason: 'event', route: 'ci', event: 'push' });
  const closed = await post('/webhooks/ci', { action: 'closed' }, { 'x-github-event': 'issues' });
  assert.equal(closed.status, 200);
  assert.deepEqual(closed.body, { status: 'ignored', reason: 'filter', route: 'ci', event: 'issues' });
  assert.equal(dispatcher.handed.length, 0);
  assert.equal((await post('/webhooks/ci', { action: 'opened' }, { 'x-github-event': 'issues' })).status, 202);
});

test('rejections by the dispatcher get 503 with Retry-After, or duplicate; the log has the reason', async (t) => {
  const { post, dispatcher, log } = await serve(t, { routes: { ci: {} } });
  dispatcher.refusal = { kind: 'overloaded', reason: 'queue_full', retry_after_seconds: 7 };
  const overloaded = await post('/webhooks/ci', {});
  assert.equal(overloaded.status, 503);
  assert.equal(overloaded.headers.get('retry-after'), '7');
  assert.equal(errorCode(overloaded.body), 'overloaded');
  assert.match(JSON.stringify(log), /"reason":"queue_full"/);
  dispatcher.refusal = { kind: 'shutting_down', retry_after_seconds: 3 };
  assert.equal((await post('/webhooks/ci', {})).body.code, 'shutting_down');
  dispatcher.refusal = { kind: 'duplicate' };
  assert.equal((await post('/webhooks/ci', {})).body.status, 'duplicate');
});

test('every cause gets the same 401; the log has the reason', async (t) => {
  const { url, log } = await serve(t, { routes: { ci: {} } });
  const send = async (headers: Record<string, string>) =>
    answerOf(await fetch(`${url}/webhooks/ci`, { method: 'POST', body: '{}', headers }));
  const answers = [
    await send({}),
    await send({ 'x-hub-signature-256': 'sha256=00' }),
    await send(signed('{}', 'another secret')),
    await send({ 'x-webhook-signature-v2': '00'.repeat(32), 'x-webhook-timestamp': '1' }),
  ];
  for (const { status, body } of answers) {
    assert.equal(status, 401);
    assert.equal(errorCode(body), 'invalid_signature');
  }
  const lines = log.lines.filter(({ message }) => message === 'invalid_signature');
  assert.deepEqual(
    lines.map(({ level }) => level),
    ['warn', 'warn', 'warn', 'warn'],
  );
  assert.deepEqual(
    lines.map(({ fields }) => fields.reason),
    ['missing_signature', 'malformed_signature', 'mismatch', 'stale_timestamp'],
  );
});

test('a disabled route responds 403 to everything', async (t) => {
  const { post, url } = await serve(t, { routes: { off: { enabled: false } } });
  assert.equal(errorCode((await post('/webhooks/off', {})).body), 'route_disabled');
  assert.equal((await fetch(`${url}/webhooks/off`, { method: 'POST', body: 'unsigned' })).status, 403);
});

test('unknown routes, profiles, mismatches and paths get the same 404', async (t) => {
  const { url } = await serve(t, {
    routes: { own: {}, ops: { profile: 'ops' } },
    gateway: { multiplex_profiles: true },
    profiles: ['default', 'ops'],
  });
  const paths = [
    '/webhooks/none',
    '/webhooks/ops',
    '/p/ops/webhooks/own',
    '/p/none/webhooks/own',
    '/p/default/webhooks/ops',
    '/webhooks/own//',
    '/webhooks/',
    '/webhooks//own',
    '/webhooks/%6fwn',
    '/WEBHOOKS/own',
    '/',
    '/p',
    '/health/x',
    '/webhooks/__proto__',
    '/blueprints',
  ];
  for (const path of paths) {
    const response = await fetch(url + path, { method: 'POST', body: '{}', headers: signed('{}') });
    assert.equal(response.status, 404, path);
    assert.equal(errorCode(await response.json()), 'unknown_route', path);
  }
  for (const path of [
    '/webhooks/own',
    '/p/default/webhooks/own',
    '/p/ops/webhooks/ops',
    '/webhooks/own?x=1',
    '/webhooks/own/?x=1',
    '/p/ops/webhooks/ops/',
  ]) {
    const response = await fetch(url + path, { method: 'POST', body: '{}', headers: signed('{}') });
    assert.equal(response.status, 202, path);
  }
});

test('an event for an unknown path leaves one line with the nearest route, at most twenty a minute', async (t) => {
  const clock = new FakeClock();
  const { url, log } = await serve(
    t,
    { routes: { 'github-prs': {}, ops: { profile: 'ops' } }, gateway: { multiplex_profiles: true }, profiles: ['ops'] },
    { clock },
  );
  const miss = async (path: string, method = 'POST') => {
    const { length } = log.lines;
    assert.equal((await fetch(url + path, { method })).status, 404, path);
    return log.lines.slice(length).filter(({ level }) => level !== 'debug');
  };
  const nearest = {
    '/webhooks/GitHub-PRs': '/webhooks/github-prs',
    '/hooks/github_prs?token=hidden': '/webhooks/github-prs',
    '/webhook/github-pr/': '/webhooks/github-prs',
    '/hook/webhooks/github-prs': '/webhooks/github-prs',
    '/p/Ops/webhook/ops': '/p/ops/webhooks/ops',
    '/webhooks/ops': '/p/ops/webhooks/ops',
    '/p/ops/webhooks/github-prs': '/webhooks/github-prs',
    '/webhooks/gitlab': undefined,
    '/': undefined,
    [`/${'x'.repeat(3000)}`]: undefined,
  };
  for (const [path, expected] of Object.entries(nearest)) {
    const [line, other] = await miss(path);
    assert.equal(line?.fields.nearest, expected, path);
    assert.equal(line?.level, expected === undefined ? 'info' : 'warn');
    assert.equal(other, undefined);
    assert(!JSON.stringify(line).includes('hidden') && JSON.stringify(line).length < 400);
  }
  assert.deepEqual(await miss('/hooks/github-prs', 'GET'), []);
  for (let count = Object.keys(nearest).length; count < 20; count++) assert.equal((await miss('/wp')).length, 1);
  assert.deepEqual([await miss('/wp'), await miss('/hooks/ops')], [[], []]);
  clock.advance(60_000);
  const [line] = await miss('/hooks/ops');
  assert.deepEqual([line?.fields.nearest, line?.fields.not_logged], ['/p/ops/webhooks/ops', 2]);
});

test('a refused body leaves a line with its size and the limit', async (t) => {
  const { url, log } = await serve(t, { routes: { ci: {} }, server: { max_body_bytes: 100 } });
  const send = async (body: string | ReadableStream) => {
    const half = typeof body === 'string' ? {} : { duplex: 'half' as const };
    const response = await fetch(`${url}/webhooks/ci`, { method: 'POST', body, headers: signed('x'), ...half });
    assert.equal(response.status, 413);
    await response.text();
    return String(log.lines.at(-1)?.fields.detail);
  };
  assert.match(await send('x'.repeat(4321)), /4321.*100/);
  assert.match(await send(new Blob(['x'.repeat(4321)]).stream()), /100/);
});

test('guesses of routes and profiles get byte-identical responses', async (t) => {
  const { port } = await serve(t, {
    routes: { own: {}, ops: { profile: 'ops' } },
    gateway: { multiplex_profiles: true },
    profiles: ['default', 'ops', 'dev'],
  });
  const requests: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ['POST', signed('{}')],
    ['POST', { 'content-type': 'application/json' }],
    ['GET', {}],
  ];
  for (const [method, headers] of requests) {
    const answer = async (path: string): Promise<string> => {
      const fields = Object.entries({ host: 'x', connection: 'close', 'content-length': '2', ...headers });
      const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
      const bytes = await sendRaw(port, [`${method} ${path} HTTP/1.1\r\n${head}\r\n{}`]);
      return bytes.replace(/^date: .*\r\n/im, '');
    };
    const unknown = await answer('/webhooks/none');
    assert.match(unknown, /^HTTP\/1\.1 404 Not Found\r\n/);
    for (const path of ['/p/none/webhooks/ops', '/p/dev/webhooks/ops', '/webhooks/ops', '/p/ops/webhooks/own']) {
      assert.equal(await answer(path), unknown, `${method} ${path}`);
    }
  }
});

test('with multiplexing off, no path below /p exists', async (t) => {
  const { url } = await serve(t, { routes: { own: {}, ops: { profile: 'ops' } }, profiles: ['default', 'ops'] });
  for (const path of ['/p/default/webhooks/own', '/p/ops/webhooks/ops', '/webhooks/ops']) {
    assert.equal((await fetch(url + path, { method: 'POST' })).status, 404, path);
  }
});

test('another method on an intake path gets 405 with the allowed ones', async (t) => {
  const { url } = await serve(t, { routes: { ci: {} } });
  for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']) {
    const response = await fetch(`${url}/webhooks/ci`, { method });
    assert.equal(response.status, 405, method);
    assert.equal(response.headers.get('allow'), 'POST');
    assert.equal(errorCode(await response.json()), 'method_not_allowed');
  }
  assert.equal((await fetch(`${url}/webhooks/none`)).status, 404);
});

test('a full window responds 429 with Retry-After; only valid signatures fill it', async (t) => {
  const clock = new FakeClock();
  const { post, url } = await serve(t, { routes: { ci: { rate_limit: 2 } } }, { clock });
  for (let i = 0; i < 5; i++) {
    assert.equal((await fetch(`${url}/webhooks/ci`, { method: 'POST', body: '{}' })).status, 401);
  }
  assert.equal((await post('/webhooks/ci', {})).status, 202);
  clock.advance(20_000);
  assert.equal((await post('/webhooks/ci', {})).status, 202);
  const limited = await post('/webhooks/ci', {});
  assert.equal(limited.status, 429);
  assert.equal(limited.headers.get('retry-after'), '40');
  assert.equal(errorCode(limited.body), 'rate_limited');
  clock.advance(40_000);
  assert.equal((await post('/webhooks/ci', {})).status, 202);
});

test('concurrent requests never exceed the window', async (t) => {
  const { post } = await serve(t, { routes: { ci: { rate_limit: 3 } } });
  const answers = await Promise.all(Array.from({ length: 10 }, () => post('/webhooks/ci', {})));
  assert.equal(answers.filter(({ status }) => status === 202).length, 3);
  assert.equal(answers.filter(({ status }) => status === 429).length, 7);
});

test('health responds as monitors expect, to GET and HEAD only', async (t) => {
  const { url } = await serve(t, {});
  const response = await fetch(`${url}/health`);
  assert.equal(response.status, 200);
  assert.equal(await response.text(), '{"status":"ok","platform":"webhook"}');
  assert.equal((await fetch(`${url}/health`, { method: 'HEAD' })).status, 200);
  const post = await fetch(`${url}/health`, { method: 'POST' });
  assert.equal(post.status, 405);
  assert.equal(post.headers.get('allow'), 'GET, HEAD');
});

test('a marked prompt has a separate id for each event, which is stored with it', async (t) => {
  const prompt = [
    { kind: 'notice' as const },
    ...template('{a} ').map((segment) => ({ ...segment, marked: true as const })),
  ];
  const { post, dispatcher } = await serve(t, { routes: { ci: { prompt } } });
  for (const _ of [1, 2]) assert.equal((await post('/webhooks/ci', { a: 'x' })).status, 202);
  const ids = dispatcher.handed.map(
    ({ dispatch }) => /<untrusted-([0-9a-f]{12})>x<\/untrusted-\1> $/.exec(dispatch.prompt)?.[1],
  );
  assert.equal(new Set(ids).size, 2);
  assert.ok(!ids.includes(undefined), String(ids));
});
