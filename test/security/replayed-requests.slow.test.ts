/**
 * What is not signed does not identify (decisions §4, replay guard): a captured request that is sent again under other ids is
 * a duplicate, for every source of the catalog that signs a time.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Hooks } from '../../main/hookwright.ts';
import { hookwright } from '../../main/hookwright.ts';
import type { SignedResult } from '../../modules/workbench/cli/test-event/sign-request.ts';
import { signRequest } from '../../modules/workbench/cli/test-event/sign-request.ts';
import type { Clock } from '../../runtime/platform/clock.ts';
import { systemClock } from '../../runtime/platform/clock.ts';
import type { SchemePlan } from '../../schemas/generated/types.ts';
import { atEnd } from '../helpers/at-end.ts';
import { loadShippedSources } from '../helpers/catalog-sources.ts';
import { silentLog } from '../helpers/log.ts';
import { handleAgain } from '../helpers/send-again.ts';
import { keysOf } from '../helpers/source-keys.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const TIMES = 20;
/** The wall clock stands still, because some windows are short. */
const NOW = 1_780_000_000_000;
const clock: Clock = { ...systemClock, now: () => NOW };
const HOST = 'https://hooks.example.test';

interface Sender {
  readonly plan: SchemePlan;
  readonly signing: string;
  readonly receiving: string;
}

const senderOf = (plan: SchemePlan): Sender => ({ plan, ...keysOf(plan) });

const named = (name: string): Sender => senderOf(loadShippedSources().plan(name));

/** The sources that sign a time, but no id. */
const TIMED = loadShippedSources()
  .lowered.map(({ plan }) => plan)
  .filter(({ timestamp, id }) => timestamp !== null && id === null)
  .map(senderOf);

const isAsymmetric = ({ verify }: SchemePlan): boolean => verify === 'ed25519' || verify === 'ecdsa-p256';

/** The JSON of each outcome, in place of the responses that senders expect. */
const PLAIN = { accepted: { status: 202 }, delivered: { status: 200 }, duplicate: { status: 200 } };

const routeOf = ({ plan, receiving }: Sender, more: object): object => ({
  source: plan.name,
  [isAsymmetric(plan) ? 'public_key' : 'secret']: receiving,
  prompt: '{__raw__}',
  respond: PLAIN,
  ...more,
});

async function open(t: TestContext, routes: object, home: string, more: object = {}): Promise<Hooks> {
  const hooks = await hookwright({
    config: { public_url: HOST, platforms: { webhook: { enabled: true, routes }, ...more } },
    home,
    env: {},
    ...{ log: silentLog, clock },
    agent: ({ prompt }) => prompt,
  });
  atEnd(t, () => hooks.stop({ drainMs: 0 }));
  return hooks;
}

/** A request as its sender signs it; captured by an attacker. */
function captured({ plan, signing }: Sender, route: string, body: object = { text: 'hi' }): SignedResult {
  const unsigned = { method: 'POST', url: `/webhooks/${route}`, public_url: `${HOST}/webhooks/${route}` };
  return signRequest(
    plan,
    signing,
    { ...unsigned, body: Buffer.from(JSON.stringify(body)), id: 'first', event: null },
    NOW,
  );
}

/** A target that counts its messages. */
async function receive(t: TestContext) {
  const receiver = { posts: 0, status: 200, platforms: {} };
  const server = createServer((request, response) => {
    receiver.posts++;
    request.resume();
    response.writeHead(receiver.status).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(t, () => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  receiver.platforms = { http: { enabled: true, url, allow_http: true, allow_private: true } };
  return receiver;
}

const ID_HEADERS = ['x-request-id', 'x-github-delivery', 'webhook-id', 'svix-id', 'idempotency-key'];

/** Sends a captured request with other ids in all places that are not signed. */
async function send(
  hooks: Hooks,
  { plan }: Sender,
  { url, headers, body }: SignedResult,
  id: string | null,
): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> {
  const names = [...plan.delivery.flatMap((at) => (at.in === 'header' ? [at.name] : [])), ...ID_HEADERS];
  const ids = id === null ? {} : Object.fromEntries(names.map((name) => [name, id]));
  const sent = { 'content-type': 'application/json', ...headers, ...ids };
  const request = new Request(`${HOST}${url}`, { method: 'POST', headers: sent, body });
  const answer = await handleAgain({ handle: (copy) => hooks.fetch(copy) }, request);
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

test('a captured request of any source that signs a time is a duplicate under every other id, also after a restart', async (t) => {
  const home = tempDir(t);
  const routes = Object.fromEntries(TIMED.map((sender) => [sender.plan.name, routeOf(sender, {})]));
  const requests = TIMED.map((sender) => ({ sender, request: captured(sender, sender.plan.name) }));
  const hooks = await open(t, routes, home);
  const names = requests.map(({ sender }) => sender.plan.name);
  for (const name of ['generic-v2', 'buildkite', 'box', 'zendesk']) assert.ok(names.includes(name), name);
  for (const { sender, request } of requests) {
    const first = await send(hooks, sender, request, 'first');
    assert.deepEqual([first.status, first.body.status], [202, 'accepted'], sender.plan.name);
  }
  await hooks.stop({ drainMs: 1000 });
  const again = await open(t, routes, home);
  for (const { sender, request } of requests) {
    const ids = [null, ...Array.from({ length: TIMES - 1 }, (_, index) => `other-${index}`)];
    const answers = await Promise.all(ids.map((id) => send(again, sender, request, id)));
    assert.deepEqual(
      answers.map(({ status, body }) => [status, body.status]),
      Array(TIMES).fill([200, 'duplicate']),
      sender.plan.name,
    );
  }
});

test('one of many copies that arrive at once is accepted, in every mode', async (t) => {
  const sender = named('generic-v2');
  const modes = {
    agent: {},
    grouped: { coalesce: { key: '{text}', window_seconds: 60 } },
    message: { agent: 'none', deliver: 'http' },
    direct: { deliver_only: true, deliver: 'http' },
  };
  const routes = Object.fromEntries(Object.entries(modes).map(([name, more]) => [name, routeOf(sender, more)]));
  const receiver = await receive(t);
  const hooks = await open(t, routes, tempDir(t), receiver.platforms);
  for (const route of Object.keys(modes)) {
    const request = captured(sender, route);
    const ids = Array.from({ length: TIMES }, (_, index) => `id-${index}`);
    const answers = await Promise.all(ids.map((id) => send(hooks, sender, request, id)));
    const repeats = answers.filter(({ body }) => body.status === 'duplicate');
    assert.equal(repeats.length, TIMES - 1, `${route}: ${JSON.stringify(answers.map(({ body }) => body.status))}`);
  }
});

test('the sender’s own retry of a failed direct delivery is delivered, and its copies afterwards are duplicates', async (t) => {
  const sender = named('generic-v2');
  const receiver = await receive(t);
  receiver.status = 400;
  const routes = { r: routeOf(sender, { deliver_only: true, deliver: 'http' }) };
  const hooks = await open(t, routes, tempDir(t), receiver.platforms);
  const request = captured(sender, 'r');
  for (const id of ['a', null]) assert.equal((await send(hooks, sender, request, id)).status, 502);
  receiver.status = 200;
  const [delivered, copy] = await Promise.all([send(hooks, sender, request, null), send(hooks, sender, request, 'b')]);
  assert.deepEqual([delivered.body.status, copy.body.status].sort(), ['delivered', 'duplicate']);
  assert.equal((await send(hooks, sender, request, 'a')).body.status, 'duplicate');
  assert.equal(receiver.posts, 3);
});

test('the same body signed at another time is a new event, and a signed id alone identifies', async (t) => {
  const [generic, stripe] = [named('generic-v2'), named('stripe')];
  const routes = {
    generic: routeOf(generic, {}),
    stripe: routeOf(stripe, {}),
  };
  const hooks = await open(t, routes, tempDir(t));
  const at = (seconds: number): SignedResult => {
    const unsigned = { method: 'POST', url: '/webhooks/generic', public_url: null, id: 'x', event: null };
    const body = Buffer.from('{"text":"hi"}');
    return signRequest(generic.plan, generic.signing, { ...unsigned, body }, NOW - seconds * 1000);
  };
  for (const seconds of [0, 60]) assert.equal((await send(hooks, generic, at(seconds), `id-${seconds}`)).status, 202);
  for (const id of ['evt_1', 'evt_2']) {
    const request = captured(stripe, 'stripe', { id, type: 'x' });
    assert.equal((await send(hooks, stripe, request, null)).body.delivery_id, id);
    assert.equal((await send(hooks, stripe, request, 'other')).body.status, 'duplicate');
  }
});

test('`replay_guard: body` refuses a repeated body under other ids, on a route and on a source', async (t) => {
  const v1 = senderOf(loadShippedSources().plan('generic-v1'));
  const routes = {
    plain: routeOf(v1, {}),
    guarded: routeOf(v1, { replay_guard: 'body' }),
    custom: { ...routeOf(v1, {}), source: 'mine' },
  };
  const mine = { verify: 'hmac-sha256', signature: { header: 'X-Webhook-Signature' }, signed: '{body}' };
  const hooks = await hookwright({
    config: {
      sources: { mine: { ...mine, replay_guard: 'body', delivery: { header: 'X-Request-ID' } } },
      platforms: { webhook: { enabled: true, routes } },
    },
    ...{ home: tempDir(t), env: {}, log: silentLog, clock, agent: () => '' },
  });
  atEnd(t, () => hooks.stop({ drainMs: 0 }));
  const statuses = async (route: string): Promise<unknown[]> => {
    const request = captured(v1, route);
    const answers = [];
    for (const id of ['a', 'b', null]) answers.push((await send(hooks, v1, request, id)).body.status);
    answers.push((await send(hooks, v1, captured(v1, route, { text: 'other' }), 'c')).body.status);
    return answers;
  };
  assert.deepEqual(await statuses('plain'), ['accepted', 'accepted', 'accepted', 'accepted']);
  for (const route of ['guarded', 'custom'])
    assert.deepEqual(await statuses(route), ['accepted', 'duplicate', 'duplicate', 'accepted'], route);
});

test('`replay_guard: body` refuses another form of what is signed: reordered parameters, another compression', async (t) => {
  const [twilio, v1] = [named('twilio'), named('generic-v1')];
  const mine = { verify: 'hmac-sha256', signature: { header: 'X-Webhook-Signature' }, signed: '{body}' };
  const hooks = await hookwright({
    config: {
      public_url: HOST,
      sources: { mine: { ...mine, signs_decoded: true, delivery: { header: 'X-Request-ID' } } },
      platforms: {
        webhook: {
          enabled: true,
          routes: {
            form: routeOf(twilio, { replay_guard: 'body' }),
            zipped: { ...routeOf(v1, { replay_guard: 'body' }), source: 'mine' },
          },
        },
      },
    },
    ...{ home: tempDir(t), env: {}, log: silentLog, clock, agent: () => '' },
  });
  atEnd(t, () => hooks.stop({ drainMs: 0 }));
  const form = captured(twilio, 'form', { From: '+1555', Body: 'a b', To: '+1777' });
  const fields = [...new URLSearchParams(form.body.toString())].reverse();
  const reordered = new URLSearchParams([...fields, ...fields]).toString();
  const answers = [];
  for (const [index, body] of [form.body, Buffer.from(reordered), form.body].entries())
    answers.push((await send(hooks, twilio, { ...form, body }, `id-${index}`)).body.status);
  const other = captured(twilio, 'form', { From: '+1555', Body: 'other', To: '+1777' });
  answers.push((await send(hooks, twilio, other, 'id-4')).body.status);
  assert.deepEqual(answers, ['accepted', 'duplicate', 'duplicate', 'accepted']);
  const plain = captured(v1, 'zipped', { text: 'hi '.repeat(200) });
  const zip = (level: number): SignedResult => ({
    ...plain,
    headers: { ...plain.headers, 'content-encoding': 'gzip' },
    body: gzipSync(plain.body, { level }),
  });
  const zipped = [];
  for (const [index, request] of [zip(1), zip(9), plain].entries())
    zipped.push((await send(hooks, v1, request, `id-${index}`)).body.status);
  assert.deepEqual(zipped, ['accepted', 'duplicate', 'duplicate']);
});
