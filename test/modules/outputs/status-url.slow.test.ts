/** `status_url`: the outcome of an event, for its sender only. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { describe, test } from 'node:test';
import { stringify } from 'yaml';
import { runtimeParts } from '../../../cli/base/module.ts';
import { outputs } from '../../../modules/outputs/module.ts';
import { EventStatuses, preferredWait } from '../../../modules/outputs/runtime/status-url.ts';
import type { RunAgent } from '../../../runtime/dispatch/agent-runner.ts';
import type { Clock, Timer } from '../../../runtime/platform/clock.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { createService } from '../../../runtime/service/service.ts';
import type { QueryKind, QueryResults } from '../../../runtime/store/queries.ts';
import type { RouteTable } from '../../../schemas/generated/types.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { compileConfig, printed } from '../../helpers/compile.ts';
import { FakeClock, settle } from '../../helpers/fake-clock.ts';
import { until } from '../../helpers/gateway.ts';
import { silentLog } from '../../helpers/log.ts';
import { routePlan } from '../../helpers/route-table.ts';
import { sendAgain } from '../../helpers/send-again.ts';
import { signed } from '../../helpers/serve.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const SECRET = '8f1d2b7e9c4a6053f7e1b2c3d4a5968778695a4b3c2d1e0f';

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Runs wait until the test ends them with an answer or a failure, or until the service stops. */
async function setUp(t: TestContext, parts: object = {}, { home = tempDir(t), clock = systemClock } = {}) {
  const waiting: ((answer: string | Error) => void)[] = [];
  const agent: RunAgent = ({ signal }) =>
    new Promise((resolve, reject) => {
      waiting.push((answer) => (typeof answer === 'string' ? resolve(answer) : reject(answer)));
      signal.addEventListener('abort', () => reject(new Error('the service has stopped')));
    });
  const route = { prompt: 'x', status_url: true, status_answer: true, rate_limit: 1000 };
  const routes = { ci: { ...route, ...parts }, other: route, plain: { prompt: 'x', rate_limit: 1000 } };
  const platforms = { webhook: { enabled: true, port: 0, secret: 'env:WEBHOOK_SECRET', routes } };
  const config = stringify({ platforms, gateway: { max_queued_runs: 10_000 }, agent: { max_attempts: 1 } });
  const env = { HOME: '/home/user', WEBHOOK_SECRET: SECRET };
  const compiled = compileConfig(config, { env });
  assert.ok(compiled.output, printed(compiled));
  const table = JSON.parse(compiled.output.routesJson) as RouteTable;
  const service = await createService({ table, home, clock, log: silentLog, agent, env }, runtimeParts([outputs]));
  atEnd(t, () => service.stop({ drainMs: 0 }));
  const { url } = await service.listen();
  let count = 0;
  const post = async (
    path = '/webhooks/ci',
    headers: Readonly<Record<string, string>> = {},
    signal?: AbortSignal,
  ): Promise<Answer> => {
    const body = JSON.stringify({ event_type: 'x', n: count++ });
    return read(
      await sendAgain(url + path, {
        method: 'POST',
        body,
        headers: { ...signed(body, SECRET), ...headers },
        signal: signal ?? null,
      }),
    );
  };
  const get = async (path: unknown, options: RequestInit = {}): Promise<Answer> =>
    read(await fetch(url + String(path), options));
  const next = async (answer: string | Error): Promise<void> => (await until(async () => waiting.shift()))(answer);
  return { service, url, home, post, get, next, waiting };
}

/** The system clock, except that waits of 59 s, which only these tests use, never end. */
function waitClock(): { readonly clock: Clock; readonly waits: ReadonlySet<Timer> } {
  const waits = new Set<Timer>();
  const after: Clock['after'] = (ms, fire) => {
    if (ms !== 59_000) return systemClock.after(ms, fire);
    const wait = { cancel: () => void waits.delete(wait) };
    waits.add(wait);
    return wait;
  };
  return { clock: { ...systemClock, after }, waits };
}

async function read(response: Response): Promise<Answer> {
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) };
}

const stateAt = async ({ get }: Pick<Awaited<ReturnType<typeof setUp>>, 'get'>, url: unknown, state: string) =>
  until(async () => {
    const answer = await get(url);
    return answer.body.state === state ? answer : null;
  });

test('the 202 has a URL that returns the state and, once done, the answer', async (t) => {
  const at = await setUp(t);
  const { status, body } = await at.post();
  assert.equal(status, 202);
  assert.match(String(body.status_url), /^\/webhooks\/ci\/status\/[a-z0-9]{24}\.[A-Za-z0-9_-]{43}$/);
  const running = await stateAt(at, body.status_url, 'running');
  assert.deepEqual([running.status, running.body], [200, { state: 'running' }]);
  assert.equal(running.headers.get('cache-control'), 'no-store');
  await at.next('42');
  const done = await stateAt(at, body.status_url, 'done');
  assert.deepEqual(done.body, { state: 'done', answer: '42' });
  const head = await fetch(at.url + String(body.status_url), { method: 'HEAD' });
  assert.equal(head.status, 200);
});

test('a silent agent has no answer in the status', async (t) => {
  const at = await setUp(t);
  const { body } = await at.post();
  await at.next('[SILENT]\nnothing new\n');
  assert.deepEqual((await stateAt(at, body.status_url, 'done')).body, { state: 'done' });
});

test('a failure is dead; without status_answer there is no answer, and without status_url no status', async (t) => {
  const at = await setUp(t, { status_answer: false });
  const [done, dead, plain] = [
    await at.post(),
    await at.post(),
    await at.post('/webhooks/plain', { prefer: 'wait=60' }),
  ];
  assert.equal(plain.body.status_url, undefined);
  await at.next('secret');
  await at.next(new Error('it failed'));
  await at.next('x');
  const states = await until(async () => {
    const both = [(await at.get(done.body.status_url)).body, (await at.get(dead.body.status_url)).body];
    return both.every(({ state }) => state === 'done' || state === 'dead') && both;
  });
  assert.deepEqual(
    new Set(states.map((body) => JSON.stringify(body))),
    new Set(['{"state":"done"}', '{"state":"dead"}']),
  );
});

test('the URL begins with public_url if it is set', async (t) => {
  const { post, get, waiting } = await setUp(t, { public_url: 'https://hooks.example.com/webhooks/ci/' });
  const { body } = await post();
  assert.match(String(body.status_url), /^https:\/\/hooks\.example\.com\/webhooks\/ci\/status\/[a-z0-9]+\./);
  await until(async () => waiting.length === 1);
  assert.equal((await get(new URL(String(body.status_url)).pathname)).status, 200);
});

describe('Prefer: wait', () => {
  test('returns the answer once the event is done', async (t) => {
    const at = await setUp(t);
    const answer = at.post('/webhooks/ci', { prefer: 'respond-async, wait=60' });
    await at.next('here');
    const { status, body, headers } = await answer;
    assert.equal(status, 200);
    assert.deepEqual([body.status, body.state, body.answer], ['accepted', 'done', 'here']);
    assert.equal(headers.get('preference-applied'), 'wait=60');
    assert.deepEqual((await at.get(body.status_url)).body, { state: 'done', answer: 'here' });
  });

  test('ends the wait on a failure', async (t) => {
    const at = await setUp(t);
    const answer = at.post('/webhooks/ci', { prefer: 'wait=60' });
    await at.next(new Error('it failed'));
    const { status, body } = await answer;
    assert.deepEqual([status, body.state, body.answer], [200, 'dead', undefined]);
  });

  test('returns 202 when the time is over', async (t) => {
    const { post } = await setUp(t);
    const { status, body } = await post('/webhooks/ci', { prefer: 'wait=1' });
    assert.equal(status, 202);
    assert.match(String(body.status_url), /status/);
  });

  test('does not delay events of other routes; a stop ends all waits', async (t) => {
    const { clock, waits } = waitClock();
    const at = await setUp(t, {}, { clock });
    const all = Array.from({ length: 3 }, () => at.post('/webhooks/ci', { prefer: 'wait=59' }));
    await until(async () => waits.size === 3);
    assert.equal((await at.post('/webhooks/plain')).status, 202);
    assert.equal(waits.size, 3);
    const stopped = at.service.stop({ drainMs: 0 });
    for (const { status, body } of await Promise.all(all))
      assert.deepEqual([status, typeof body.status_url], [202, 'string']);
    await stopped;
  });

  test('ends the wait when the sender disconnects', async (t) => {
    const { clock, waits } = waitClock();
    const at = await setUp(t, {}, { clock });
    const gone = new AbortController();
    const sent = at.post('/webhooks/ci', { prefer: 'wait=59' }, gone.signal);
    await until(async () => waits.size === 1);
    gone.abort();
    await assert.rejects(sent, { name: 'AbortError' });
    await until(async () => waits.size === 0);
  });

  const headers: readonly (readonly [string | undefined, number])[] = [
    [undefined, 0],
    ['wait=30', 30],
    ['wait=600', 60],
    ['Wait = 5', 5],
    ['respond-async, wait="7"; x=1', 7],
    ['wait=-1', 0],
    ['wait=1e9', 0],
    ['wait=', 0],
    ['await=5', 0],
    ['wait=99999999999999999999', 0],
  ];
  for (const [header, seconds] of headers) test(`${header}`, () => assert.equal(preferredWait(header), seconds));
});

test('responds to every guessed URL like to an unknown path', async (t) => {
  const at = await setUp(t);
  const { body } = await at.post();
  const [own, token = ''] = String(body.status_url).split('/status/');
  const [id = '', mac = ''] = token.split('.');
  const unknown = (await at.get('/webhooks/absent')).body;
  const flipped = mac.startsWith('A') ? `B${mac.slice(1)}` : `A${mac.slice(1)}`;
  const guesses = [
    ...[`${own}/status/${id}.${flipped}`, `${own}/status/${id}`, `${own}/status/${id}.`, `${own}/status/`],
    ...[
      `${own}/status/${id.slice(0, 10)}.${mac}`,
      `${own}/status/${id}.${mac}x`,
      `${own}/status/${id}.${mac.slice(1)}`,
    ],
    ...[`/webhooks/other/status/${token}`, `/webhooks/plain/status/${token}`, `/webhooks/absent/status/${token}`],
    ...[
      `${own}//status/${token}`,
      `${own}/status/${token}/`,
      `${own}/status/${id.toUpperCase()}.${mac}`,
      `/status/${token}`,
    ],
  ];
  for (const guess of guesses) {
    const answer = await at.get(guess);
    assert.deepEqual([answer.status, answer.body], [404, unknown], guess);
  }
  for (const method of ['POST', 'DELETE', 'OPTIONS'])
    assert.deepEqual((await at.get(body.status_url, { method })).body, unknown, method);
  // The real URL still works.
  assert.equal((await at.get(body.status_url)).status, 200);
});

test('keeps the URL over a restart, until retention deletes the event', async (t) => {
  const first = await setUp(t);
  const { body } = await first.post();
  await until(async () => first.waiting.length === 1);
  await first.service.stop({ drainMs: 0 });
  const second = await setUp(t, {}, { home: first.home });
  assert.ok(['pending', 'running'].includes(String((await second.get(body.status_url)).body.state)));
  await second.next('later');
  assert.equal((await stateAt(second, body.status_url, 'done')).body.answer, 'later');
  // Retention keeps the newest event.
  await second.post();
  const cleanup = { kind: 'cleanup', before: Date.now() + 60_000, after: 0, limit: 100 } as const;
  await second.service.store.write(cleanup);
  const gone = await second.get(body.status_url);
  assert.deepEqual([gone.status, gone.body], [404, (await second.get('/webhooks/absent')).body]);
});

test('a rejected message is dead, and its answer is not returned', async () => {
  const plan = routePlan('ci', { status: { answer: true } });
  const steps = [{ kind: 'delivery', outcome: 'rejected' }];
  const ended = { id: 'd', route: 'ci', profile: 'default', state: 'skipped', reason: 'log: not_approved' };
  const found = {
    kind: 'found',
    dispatch: { ...ended, steps, answer: 'a draft', dispatch: { deliveries: [] } },
  } as unknown;
  const store = { shared: null, read: async () => found as never };
  const statuses = new EventStatuses({ store, clock: new FakeClock(), log: silentLog, key: async () => 'k' });
  assert.deepEqual(await statuses.read('d', plan), { state: 'dead' });
});

test('status requests have their own rate limit, equal to that of the route', async (t) => {
  const at = await setUp(t, { rate_limit: 3 });
  const { body } = await at.post();
  const statuses = [];
  for (let index = 0; index < 4; index++) statuses.push(await at.get(body.status_url));
  assert.deepEqual(
    statuses.map(({ status }) => status),
    [200, 200, 200, 429],
  );
  assert.match(statuses[3]?.headers.get('retry-after') ?? '', /^\d+$/);
  assert.equal((await at.post()).status, 202);
});

test('limits waiting senders; others get a response at once, and a disconnect frees a slot', async () => {
  const clock = new FakeClock();
  const store = { shared: null, read: () => assert.fail('nothing is asked') };
  const statuses = new EventStatuses({ store, clock, log: silentLog, key: async () => 'k' });
  const gone: (() => void)[] = [];
  const answered: string[] = [];
  const post = async (id: string): Promise<readonly string[]> => {
    void statuses.wait(id, 60_000, (end) => gone.push(end)).then(() => answered.push(id));
    await settle();
    return answered.splice(0);
  };
  for (let index = 0; index < 128; index++) assert.deepEqual(await post(`d${index}`), []);
  assert.deepEqual(await post('too late'), ['too late']);
  gone[5]?.();
  assert.deepEqual(await post('next'), ['d5']);
  // It has already disconnected: its slot is freed only once.
  gone[5]?.();
  assert.deepEqual(await post('too late again'), ['too late again']);
  statuses.finished('d7');
  assert.deepEqual(await post('last'), ['d7']);
  statuses.release();
  assert.equal((await post('after the stop')).length, 128 + 1);
  assert.equal(clock.pending, 0);
});

test('uses one timer per sender, and in a shared store one query for all', async () => {
  const clock = new FakeClock();
  const asked: number[] = [];
  let ended: readonly string[] = [];
  const store = {
    shared: {} as never,
    async read(query: { readonly kind: QueryKind; readonly ids?: readonly string[] }) {
      asked.push(query.ids?.length ?? -1);
      return ended as QueryResults['ended'] as never;
    },
  };
  const statuses = new EventStatuses({ store, clock, log: silentLog, key: async () => 'k' });
  const gone: (() => void)[] = [];
  const waits = Array.from({ length: 100 }, (_, index) => statuses.wait(`d${index}`, 30_000, (end) => gone.push(end)));
  await clock.run(1000);
  assert.deepEqual(asked, [100]);
  ended = ['d0', 'd1'];
  gone[2]?.();
  await clock.run(1000);
  assert.deepEqual(asked, [100, 99]);
  await Promise.all(waits.slice(0, 3));
  statuses.finished('d3');
  await waits[3];
  await clock.run(1000);
  assert.deepEqual(asked, [100, 99, 96]);
  await clock.run(30_000);
  await Promise.all(waits);
  const before = asked.length;
  await clock.run(30_000);
  assert.equal(asked.length, before);
});

test('a pending approval has the state waiting', async () => {
  const plan = routePlan('ci', { status: { answer: true } });
  const own = { steps: [], dispatch: { deliveries: [] } };
  const dispatch = { id: 'a', state: 'waiting', reason: null, answer: 'x', route: 'ci', profile: 'default', ...own };
  const store = { shared: null, read: async () => ({ kind: 'found', dispatch }) as never };
  const statuses = new EventStatuses({ store, clock: new FakeClock(), log: silentLog, key: async () => 'k' });
  assert.deepEqual(await statuses.read('a', plan), { state: 'waiting' });
});

test('delivered outputs are returned, with texts only beside answers, and of dropped ones the reasons', async () => {
  const output = (name: string, text: string) => ({
    target: 'log',
    extra: {},
    unresolved: [],
    output: { name, content: { text } },
  });
  const dropped = [{ output: 'label', line: 3, reason: 'not_allowed', detail: 'a stranger wrote this' }];
  const own = { deliveries: [output('note', 'sent'), output('page', 'not sent')], dropped };
  const steps = [{ kind: 'delivery', index: 0, outcome: 'ok' }];
  const row = {
    id: 'a',
    state: 'done',
    reason: null,
    answer: null,
    route: 'ci',
    profile: 'default',
    steps,
    dispatch: own,
  };
  const store = { shared: null, read: async () => ({ kind: 'found', dispatch: row }) as never };
  const statuses = new EventStatuses({ store, clock: new FakeClock(), log: silentLog, key: async () => 'k' });
  const read = (answer: boolean) => statuses.read('a', routePlan('ci', { status: { answer } }));
  const rest = { state: 'done', dropped: ['not_allowed'] };
  assert.deepEqual(await read(true), { ...rest, outputs: [{ output: 'note', text: 'sent' }] });
  assert.deepEqual(await read(false), { ...rest, outputs: [{ output: 'note' }] });
});
