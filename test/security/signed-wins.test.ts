/** Tests that signed values take precedence: no header added to a recorded request changes its event type or delivery id. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lowerEvents } from '../../compiler/lower/route.ts';
import type { SignedResult } from '../../modules/workbench/cli/test-event/sign-request.ts';
import { signRequest } from '../../modules/workbench/cli/test-event/sign-request.ts';
import type { SchemePlan } from '../../schemas/generated/types.ts';
import { loadShippedSources } from '../helpers/catalog-sources.ts';
import { SECRET } from '../helpers/route-table.ts';
import type { Answer, Served } from '../helpers/serve.ts';
import { answerOf, serve } from '../helpers/serve.ts';

const sources = loadShippedSources();
const PUBLIC_URL = 'https://hooks.example.test/webhooks/r';

interface Event {
  readonly id: string;
  readonly event?: string | null;
  readonly body: unknown;
}

const JSON_REPLY = { status: null, content_type: '', body: null, headers: [] };
/** The JSON of each outcome, in place of the responses that senders expect. */
const PLAIN = { accepted: JSON_REPLY, ignored: JSON_REPLY, duplicate: JSON_REPLY };

/** A request as its sender signs it; recorded by an attacker. */
function recorded(scheme: string, { id, event = null, body }: Event, secret = SECRET): SignedResult {
  const unsigned = { method: 'POST', url: '/webhooks/r', public_url: PUBLIC_URL, id, event };
  return signRequest(
    sources.plan(scheme),
    secret,
    { ...unsigned, body: Buffer.from(JSON.stringify(body)) },
    Date.now(),
  );
}

async function send({ url }: Served, request: SignedResult, more: Record<string, string> = {}): Promise<Answer> {
  const headers = { 'content-type': 'application/json', ...request.headers, ...more };
  return answerOf(await fetch(`${url}${request.url}`, { method: 'POST', headers, body: request.body }));
}

const summary = ({ body }: Answer): unknown[] => [body.status, body.event, body.delivery_id];

test('a recorded Standard Webhooks request stays a duplicate, whatever id a header has', async (t) => {
  const served = await serve(t, { routes: { r: {} } });
  const request = recorded('standard-webhooks', { id: 'msg_1', body: { type: 'invoice.paid' } });
  assert.deepEqual(summary(await send(served, request)), ['accepted', 'invoice.paid', 'msg_1']);
  for (const name of ['x-github-delivery', 'x-forgea-delivery', 'svix-id', 'relay-id', 'x-request-id']) {
    const again = await send(served, request, { [name]: `forged-${name}` });
    assert.deepEqual([again.body.status, again.body.delivery_id], ['duplicate', 'msg_1'], name);
  }
});

test('a header cannot bypass `events` for a signed type', async (t) => {
  const served = await serve(t, { routes: { r: { events: lowerEvents(['good']).plan } } });
  const evil = recorded('standard-webhooks', { id: 'msg_2', body: { type: 'evil' } });
  for (const name of ['x-github-event', 'x-forgea-event', 'x-gitlab-event', 'x-forgeb-event']) {
    assert.deepEqual(summary(await send(served, evil, { [name]: 'good' })), ['ignored', 'evil', undefined], name);
  }
});

test('a forged header cannot claim the id of a later genuine event', async (t) => {
  const served = await serve(t, { routes: { r: {} } });
  const old = recorded('standard-webhooks', { id: 'msg_old', body: { type: 'a' } });
  await send(served, old, { 'x-github-delivery': 'msg_next', 'x-request-id': 'msg_next' });
  const next = recorded('standard-webhooks', { id: 'msg_next', body: { type: 'a' } });
  assert.deepEqual(summary(await send(served, next)), ['accepted', 'a', 'msg_next']);
});

test('the body names the event of a generic request, or a header if the body has none', async (t) => {
  const served = await serve(t, { routes: { r: {} } });
  const named = recorded('generic-v2', { id: 'a', body: { event_type: 'signed' } });
  assert.equal((await send(served, named, { 'x-github-event': 'forged' })).body.event, 'signed');
  const plain = recorded('generic-v2', { id: 'b', body: { title: 'x' } });
  const more = { 'x-forgea-event': 'push', 'x-forgea-delivery': 'd-1' };
  assert.deepEqual(summary(await send(served, plain, more)), ['accepted', 'push', 'd-1']);
});

test('headers of a sender count only in its own requests', async (t) => {
  const served = await serve(t, { routes: { r: {} } });
  const request = recorded('gitlab', { id: 'd-7', event: 'Push Hook', body: { type: 'User' } });
  const more = { 'x-github-event': 'forged', 'x-github-delivery': 'forged', 'webhook-id': 'forged' };
  assert.deepEqual(summary(await send(served, request, more)), ['accepted', 'Push Hook', 'd-7']);
});

test('an unsigned part of the body gives a recorded request no new id', async (t) => {
  const item = (extra: object) => ({
    ...extra,
    notificationItems: [{ NotificationRequestItem: { pspReference: 'p1', eventCode: 'CAPTURE', success: 'true' } }],
  });
  const mail = { 'event-data': { id: 'first', event: 'opened' }, signature: { token: 'f'.repeat(50) } };
  const cases = [
    { scheme: 'adyen-payments', secret: '00'.repeat(32), body: item({ live: 'false' }), change: { live: 'true' } },
    { scheme: 'mailgun', secret: SECRET, body: mail, change: { 'event-data': { id: 'second', event: 'opened' } } },
  ];
  for (const { scheme, secret, body, change } of cases) {
    const secrets = [{ ref: { kind: 'literal' as const, value: secret, scope: 'default' }, expires_at: null }];
    const served = await serve(t, { routes: { r: { source: scheme, schemes: [scheme], secrets, respond: PLAIN } } });
    const request = recorded(scheme, { id: 'x', body }, secret);
    assert.equal((await send(served, request)).status, 202, scheme);
    const changed = Buffer.from(JSON.stringify({ ...(JSON.parse(String(request.body)) as object), ...change }));
    assert.equal((await send(served, { ...request, body: changed })).body.status, 'duplicate', scheme);
  }
});

/** Values of the senders' bodies, at the catalog's locations. */
const BODIES: Readonly<Record<string, unknown>> = {
  box: { id: 'body-id', trigger: 'FILE.UPLOADED' },
  buildkite: { event: 'build.finished' },
  circleci: { type: 'job-completed', id: 'body-id' },
  linear: { type: 'Issue' },
  twitch: { subscription: { type: 'stream.online' } },
  'bitbucket-server': { eventKey: 'pr:merged' },
  'gitlab-signing': { object_kind: 'merge_request' },
  pagerduty: { event: { event_type: 'incident.triggered', id: 'body-id' } },
  stripe: { id: 'body-id', type: 'invoice.paid' },
};

/** Every header with an event type or an id in any source of the catalog. */
const ALL_HEADERS = [
  ...new Set(
    sources.lowered.flatMap(({ plan }) =>
      [...plan.event, ...plan.delivery].flatMap((at) => (at.in === 'header' ? [at.name] : [])),
    ),
  ),
];

const inHeader = (places: SchemePlan['event'], headers: SignedResult['headers']): boolean =>
  places.some((at) => at.in === 'header' && headers[at.name] !== undefined);

test('no source of the catalog lets a header replace a signed value', async (t) => {
  const signing = sources.lowered.filter(({ plan }) => plan.verify.startsWith('hmac-') && plan.secret.as !== 'hex');
  const secret = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;
  const secrets = (strip: string) => {
    const value = strip === 'v1,whsec_' ? `v1,${secret}` : strip === '' ? secret.slice(6) : secret;
    return [{ ref: { kind: 'literal' as const, value, scope: 'default' }, expires_at: null }];
  };
  const routes = signing.map(({ name, plan }, index) => [
    `r${index}`,
    { source: name, schemes: [name], secrets: secrets(plan.secret.strip), public_url: PUBLIC_URL, respond: PLAIN },
  ]);
  const served = await serve(t, { routes: Object.fromEntries(routes) });
  const changed: string[] = [];
  for (const [index, { name, plan }] of signing.entries()) {
    const value = secrets(plan.secret.strip)[0]?.ref.value ?? '';
    const once = (turn: string) => {
      const unsigned = {
        method: 'POST',
        url: `/webhooks/r${index}`,
        public_url: PUBLIC_URL,
        id: `id-${turn}`,
        event: null,
      };
      const body = Buffer.from(JSON.stringify(BODIES[name] ?? { some: 'body' }));
      return signRequest(plan, value, { ...unsigned, body }, Date.now());
    };
    const genuine = once('1');
    const own = [...plan.event, ...plan.delivery].flatMap((at) => (at.in === 'header' ? [at.name] : []));
    const bodyNames = BODIES[name] !== undefined;
    const forged = ALL_HEADERS.filter((header) => (bodyNames || !own.includes(header)) && !(header in genuine.headers));
    const first = await send(served, genuine, Object.fromEntries(forged.map((header) => [header, 'forged'])));
    const what = `${name}: ${JSON.stringify(first.body)}`;
    // A scheme without locations reads the specification's headers: no signed value is replaced.
    if (plan.event.length + plan.delivery.length === 0 && !plan.delivery_digest) continue;
    assert.ok(first.status === 202 || first.status === 200, what);
    if (first.body.event === 'forged') changed.push(what);
    const isOwnHeader = inHeader(plan.delivery, genuine.headers) || own.length === 0;
    if (first.body.delivery_id === 'forged' && (isOwnHeader || plan.delivery[0]?.in !== 'header')) changed.push(what);
  }
  assert.deepEqual(changed, []);
});
