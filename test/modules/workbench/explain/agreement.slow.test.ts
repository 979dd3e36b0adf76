/** Tests that `explain` agrees with a running gateway, for generated configurations and requests and for recorded events. */

import assert from 'node:assert/strict';
import { renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { targetLabel } from '../../../../base/text.ts';
import { SignError } from '../../../../modules/workbench/cli/test-event/sign-body.ts';
import { signRequest } from '../../../../modules/workbench/cli/test-event/sign-request.ts';
import type { ExplainedRoute } from '../../../../modules/workbench/runtime/explain/create-explainer.ts';
import { linkExplained } from '../../../../modules/workbench/runtime/explain/create-explainer.ts';
import { explainRequest } from '../../../../modules/workbench/runtime/explain/explain-request.ts';
import { createDryDispatcher, Warnings } from '../../../../modules/workbench/runtime/explain/explain-services.ts';
import type { Clock } from '../../../../runtime/platform/clock.ts';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import { createIds } from '../../../../runtime/platform/ids.ts';
import { EXAMPLE_INSTALLATION } from '../../../../runtime/table/link-loop.ts';
import { partsOf } from '../../../../runtime/verify/request.ts';
import type { KeptRequest } from '../../../../schemas/built/operations/types.ts';
import type { Explanation, RoutePlan, RouteTable } from '../../../../schemas/generated/types.ts';
import { compileConfig, printed } from '../../../helpers/compile.ts';
import { openCapture } from '../../../helpers/keeping.ts';
import { routeTable } from '../../../helpers/route-table.ts';
import type { Served } from '../../../helpers/serve.ts';
import { answerOf, serve } from '../../../helpers/serve.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const SECRET = 'a secret that no one guesses 1';
const SEED = 20260301;
/** 1,200 pairs with `npm run test:long -- agreement`. */
const CONFIGS = process.env.HOOKWRIGHT_LONG_TESTS === '1' ? 50 : 10;
const REQUESTS = 24;

// ---- configurations

const action = fc.constantFrom('opened', 'closed', 'Opened', '');
const scalar = fc.oneof(action, fc.constantFrom(0, 1, 7, true, false, null));
const field = fc.constantFrom(
  ...['action', 'number', 'user.login', 'labels', 'labels.0', 'payload.action', 'nested.deep.value', 'event'],
  ...['event_type', 'headers.X-Tag', 'missing.at.all', 'nested'],
);

const leaf: fc.Arbitrary<unknown> = fc.oneof(
  fc.record({ field, exists: fc.boolean() }),
  fc.record({ field, missing: fc.constant(true) }),
  fc.record({ field, equals: scalar }),
  fc.record({ field, not_equals: scalar }),
  fc.record({ field, gt: fc.constantFrom(0, 1, 6.5) }),
  fc.record({ field, lte: fc.constantFrom(0, 1, 6.5) }),
  fc.record({ field, contains: action }),
  fc.record({ field, in: fc.array(scalar, { minLength: 1, maxLength: 3 }) }),
  fc.record({ field, regex: fc.constantFrom('^open', 'e', '\\d+', 'push|tag') }),
);
const filter = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    leaf,
    fc.record({ all: fc.array(tie('tree'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ any: fc.array(tie('tree'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ not: tie('tree') }),
  ),
})).tree;

const piece = fc.constantFrom(
  ...['{action}', '{number}', '{user.login}', '{labels}', '{labels.0}', '{nested}', '{missing.at.all}', '{event_type}'],
  ...['{route}', '{__raw__}', '{headers.X-Tag}', ' and ', 'text ', '{user}', '{event_type}'],
);
const template = fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join(''));
const entry = fc.constantFrom('push', 'pull_request', 'issue*', '{tag,push}', '*', 'item:?pdated', 'unknown');

const target = fc.oneof(
  fc.constant({}),
  fc.record({
    deliver: fc.constant('telegram'),
    deliver_extra: fc.record({ chat_id: fc.constantFrom('-5', '{number}', '{user.login}', '{missing}') }),
  }),
);
const mode = fc.oneof(
  target,
  target,
  fc.record({ coalesce: fc.record({ key: fc.constantFrom('{number}', 'user.login', '{action}#{missing}') }) }),
  fc.constant({ cron_job: 'report' }),
  fc.record({
    deliver: fc.constant('telegram'),
    deliver_only: fc.constant(true),
    deliver_extra: fc.constant({ chat_id: '-5' }),
  }),
);
const sender = fc.oneof(
  { weight: 4, arbitrary: fc.constant({}) },
  { weight: 2, arbitrary: fc.constantFrom({ source: 'github' }, { source: 'stripe' }, { source: 'gitlab' }) },
  { weight: 1, arbitrary: fc.constantFrom({ auth: ['generic-v2'] }, { auth: ['forgea', 'standard-webhooks'] }) },
);

const route = fc
  .tuple(
    fc.record(
      {
        events: fc.array(entry, { minLength: 1, maxLength: 3 }),
        filters: fc.oneof(filter, fc.array(filter, { minLength: 1, maxLength: 3 })),
        prompt: template,
        skills: fc.constant(['reviewing']),
        enabled: fc.nat({ max: 15 }).map((at) => at > 0),
      },
      { requiredKeys: ['prompt'] },
    ),
    mode,
    sender,
  )
  .map(([base, how, who]) => ({ ...base, ...how, ...who }));

const config = fc.record({ routes: fc.array(route, { minLength: 3, maxLength: 3 }) }).map(({ routes }) => ({
  platforms: {
    webhook: {
      enabled: true,
      secret: SECRET,
      max_body_bytes: 1500,
      rate_limit: 1000000,
      routes: Object.fromEntries(routes.map((each, at) => [`r${at}`, each])),
    },
    telegram: { enabled: true, token: '1:a' },
  },
  jobs: { report: { schedule: '0 7 * * *', prompt: 'report' } },
}));

// ---- requests

const payload = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record(
      {
        action,
        number: fc.constantFrom(0, 7, '7', null),
        user: fc.constantFrom({ login: 'ada' }, { login: '' }, 'ada', null),
        labels: fc.constantFrom([], ['opened'], [{ a: 1 }, 'b'], 'opened'),
        nested: fc.constantFrom({ deep: { value: 1 } }, { deep: [] }, 3),
        payload: fc.constantFrom({ action: 'opened' }, 'text', null),
        event_type: fc.constantFrom('push', 'item:updated', '', 3),
        type: fc.constantFrom('issues', 'tag'),
        id: fc.constant('evt_1'),
      },
      { requiredKeys: [] },
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(null, 3, 'text', [1, 2], []) },
);
const body = fc.oneof(
  { weight: 24, arbitrary: payload.map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.constantFrom('{"a":', '', 'a=b&c=d', 'payload=%7B%22action%22%3A%22opened%22%7D') },
  { weight: 1, arbitrary: fc.constant(JSON.stringify({ action: 'x'.repeat(2000) })) },
);
const request = fc.record({
  at: fc.nat({ max: 2 }),
  body,
  contentType: fc.constantFrom(
    ...Array<string>(12).fill('application/json'),
    'application/json; charset=utf-8',
    ...['application/x-www-form-urlencoded', 'text/csv', 'application/vnd.x+json'],
  ),
  event: fc.constantFrom(null, 'push', 'pull_request', 'issues', 'issue_comment', 'tag', 'weird\u00e9'),
  tag: fc.constantFrom(null, 'opened', '7'),
  hasId: fc.boolean(),
  scheme: fc.nat({ max: 9 }),
  signature: fc.constantFrom(...Array<'good'>(12).fill('good'), 'wrong', 'stale', 'none'),
});
type GeneratedRequest = typeof request extends fc.Arbitrary<infer Value> ? Value : never;

interface Sent {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

let count = 0;

/** Creates the request like the sender of one of the route's schemes. */
function makeRequest(given: GeneratedRequest, table: RouteTable): { readonly name: string; readonly sent: Sent } {
  const name = `r${given.at}`;
  const plan = table.routes[name];
  const schemes = (plan?.schemes ?? []).flatMap((scheme) => table.schemes[scheme] ?? []);
  const scheme = schemes[given.scheme % schemes.length];
  assert(scheme !== undefined);
  const id = `id-${++count}`;
  const extra = {
    'content-type': given.contentType,
    ...(given.event === null ? {} : { 'x-github-event': given.event }),
    ...(given.tag === null ? {} : { 'x-tag': given.tag }),
    ...(given.hasId ? { 'x-request-id': id } : {}),
  };
  const path = `/webhooks/${name}`;
  const raw = Buffer.from(given.body);
  const unsigned = { path, headers: extra, body: raw };
  if (given.signature === 'none') return { name, sent: unsigned };
  const now = given.signature === 'stale' ? Date.now() - 3_600_000 : Date.now();
  const secret = given.signature === 'wrong' ? 'another secret' : SECRET;
  const parts = { method: 'POST', url: path, public_url: null, body: raw, id, event: given.event };
  try {
    const { url, headers, body } = signRequest(scheme, secret, parts, now);
    return { name, sent: { path: url, headers: { ...extra, ...headers }, body } };
  } catch (error) {
    // Some schemes sign inside the body, which must then be an object.
    if (error instanceof SignError) return { name, sent: unsigned };
    throw error;
  }
}

// ---- both sides

/** The compared values: the answer and the dispatch. */
interface Result {
  readonly status: number;
  readonly outcome: unknown;
  readonly reason: unknown;
  readonly event: unknown;
  readonly prompt: string | null;
  readonly deliveries: unknown;
  readonly group: string | null;
  readonly run: unknown;
}

async function served({ url, dispatcher }: Served, { path, headers, body }: Sent): Promise<Result> {
  const before = dispatcher.handed.length;
  const answer = await answerOf(await fetch(url + path, { method: 'POST', headers, body: new Uint8Array(body) }));
  const handed = dispatcher.handed[before];
  const { status, code, reason = null, event = handed?.dispatch.event ?? null } = answer.body;
  const dispatch = handed?.dispatch;
  return {
    ...{ status: answer.status, outcome: status === 'error' ? code : status, reason, event },
    prompt: dispatch?.prompt ?? null,
    deliveries: (dispatch?.deliveries ?? []).map(({ extra, unresolved, ...to }) => [
      targetLabel(to),
      extra,
      unresolved,
    ]),
    group: handed?.group?.key ?? null,
    run: dispatch === undefined ? null : [dispatch.job, dispatch.skills, dispatch.toolsets],
  };
}

function explained(found: Explanation, answered: Result): Result {
  const { status, outcome, reason, event, prompt, deliveries, coalesce, job, skills, toolsets } = found;
  return {
    ...{ status, outcome },
    // Only `ignored` answers contain the reason, and answers contain only the parts of an event that were read.
    reason: outcome === 'ignored' ? reason : null,
    event: answered.event === null ? null : event,
    prompt: answered.prompt === null ? null : prompt,
    deliveries:
      prompt === null ? [] : deliveries.map(({ target: to, address, unresolved }) => [to, address, unresolved]),
    group: coalesce?.key ?? null,
    run: prompt === null ? null : [job, skills, toolsets],
  };
}

const SECRETS = { resolve: ({ value }: { readonly value: string }): string => value };
const LISTS = {
  stat: (): never => {
    throw new Error('there are no lists');
  },
  read: async (): Promise<string> => '',
};

const links = new WeakMap<RoutePlan, ExplainedRoute>();

function explain(table: RouteTable, name: string, { path, headers, body }: Sent): Promise<Explanation> {
  const plan = table.routes[name];
  assert(plan !== undefined);
  const warnings = new Warnings();
  const files = { home: '/nowhere', userHome: '/nowhere', files: LISTS };
  const linked =
    links.get(plan) ??
    linkExplained(plan, table, { ...files, secrets: SECRETS, marks: null, clock: systemClock, warnings });
  links.set(plan, linked);
  const dispatcher = createDryDispatcher({ refusal: () => null, jobState: () => 'accepted' });
  const ids = createIds((size) => Buffer.alloc(size));
  return explainRequest(
    {
      ...linked,
      ...{ agent: 'preview', event: null, runScript: null, warnings },
      request: partsOf('POST', path, Object.entries(headers), body),
    },
    {
      ...{ dispatcher, clock: systemClock, ids, homeChannel: () => null, buttons: {}, refusal: null },
      installation: async () => EXAMPLE_INSTALLATION,
    },
  );
}

interface CapturingGateway extends Served {
  readonly swap: (table: RouteTable, routesJson: string) => Promise<void>;
  /** The captured last request; null: it exceeded the limit of its route. */
  readonly lastKept: () => Promise<KeptRequest | null>;
}

/** Starts a gateway that captures requests. */
async function serveKept(t: TestContext): Promise<CapturingGateway> {
  let { table } = routeTable({});
  // Each request comes a quarter of a minute after the previous one, because capture limits depend on the time.
  let elapsed = 0;
  const clock: Clock = { ...systemClock, monotonic: () => (elapsed += 15_000) };
  const capture = openCapture(join(tempDir(t), 'requests.db'), {
    table: () => table,
    clock,
    secrets: () => new Set(),
    forgets: false,
  });
  const ids: (string | null)[] = [];
  const gateway = await serve(
    t,
    { routes: {} },
    {
      keeping: {
        keepMiss: capture.keepMiss,
        keep: (...request) => {
          const id = capture.keep(...request);
          ids.push(id);
          return id;
        },
      },
    },
  );
  t.after(() => capture.close());
  return {
    ...gateway,
    swap: async (next, routesJson) => {
      const path = join(gateway.home, 'build/routes.json');
      writeFileSync(`${path}.new`, routesJson);
      renameSync(`${path}.new`, path);
      table = next;
      assert(await gateway.gateway.reload());
    },
    lastKept: async () => {
      const id = ids.pop() ?? null;
      const found = id === null ? null : await capture.requests.load(id);
      return found?.kind === 'found' ? found.request : null;
    },
  };
}

/** Checks that the captured request agrees with the answer. */
async function keptAs(
  { lastKept }: CapturingGateway,
  { status, outcome, reason }: Result,
  about: string,
): Promise<number> {
  const captured = await lastKept();
  if (captured === null) return 0;
  const why = captured.outcome === 'ignored' ? captured.reason : null;
  assert.deepEqual([captured.status, captured.outcome, why], [status, outcome, reason], about);
  return 1;
}

/** Removes values that are generated for each event. */
const isUnsigned = ({ stages }: Explanation): boolean =>
  stages.some(({ stage, reason }) => stage === 'signature' && reason === 'not_signed');

test('explain and a running gateway agree on generated configurations and requests', async (t: TestContext) => {
  const gateway = await serveKept(t);
  const outcomes = new Map<string, number>();
  let captured = 0;
  const configs = fc.sample(config, { seed: SEED, numRuns: CONFIGS });
  for (const [at, made] of configs.entries()) {
    const text = stringify(made);
    const compiled = compileConfig(text);
    assert(compiled.output !== null, printed(compiled));
    const { table, routesJson } = compiled.output;
    await gateway.swap(table, routesJson);
    for (const given of fc.sample(request, { seed: SEED + at, numRuns: REQUESTS })) {
      const { name, sent } = makeRequest(given, table);
      const found = await explain(table, name, sent);
      gateway.dispatcher.forget();
      const answered = await served(gateway, sent);
      const key = `${answered.outcome} ${answered.reason ?? ''}`.trim();
      outcomes.set(key, (outcomes.get(key) ?? 0) + 1);
      const about = `${text}\n${JSON.stringify({ ...sent, body: given.body })}`;
      if (isUnsigned(found)) assert(answered.status !== 202 && answered.status !== 200, about);
      else assert.deepEqual(explained(found, answered), answered, about);
      captured += await keptAs(gateway, answered, about);
    }
  }
  t.diagnostic(`${captured} kept: ${[...outcomes].map(([key, times]) => `${times} ${key}`).join(', ')}`);
  assert(captured >= CONFIGS * 8, `${captured} were kept`);
  for (const key of ['accepted', 'coalesced', 'delivered', 'ignored event', 'ignored filter', 'invalid_signature']) {
    assert((outcomes.get(key) ?? 0) >= CONFIGS / 16, `${key}: ${outcomes.get(key) ?? 0}`);
  }
  for (const key of ['malformed_body', 'payload_too_large', 'unsupported_media_type', 'route_disabled']) {
    assert((outcomes.get(key) ?? 0) >= 1, key);
  }
});

const RECORDED = `
platforms:
  webhook:
    enabled: true
    secret: ${SECRET}
    max_body_bytes: 1000000
    rate_limit: 1000000
    routes:
      all: {}
      review:
        events: [pull_request, "*_review"]
        filters:
          - field: action
            in: [opened, submitted, synchronize]
          - not: { field: sender.type, equals: Bot }
        prompt: "{action} {pull_request.number} {repository.full_name} {pull_request.user} {sender.login}"
        deliver: github_comment
        deliver_extra: { repo: "{repository.full_name}", pr_number: "{pull_request.number}" }
      merged:
        filters: { any: [{ field: repository.private, equals: false }, { field: organization, exists: true }] }
        coalesce: { key: "{repository.full_name}#{number}" }
        prompt: "{event_type}: {__raw__}"
  github_comment: { enabled: true }
`;

interface RecordedEvents {
  readonly name: string;
  readonly examples: readonly unknown[];
}

test('explain and a running gateway agree on every recorded event of a code host', async (t) => {
  const gateway = await serveKept(t);
  const compiled = compileConfig(RECORDED);
  assert(compiled.output !== null, printed(compiled));
  const { table, routesJson } = compiled.output;
  await gateway.swap(table, routesJson);
  const scheme = table.schemes.github;
  assert(scheme !== undefined);
  const events = createRequire(import.meta.url)('@octokit/webhooks-examples') as readonly RecordedEvents[];
  const examples = events.flatMap(({ name, examples: all }) => all.map((example) => ({ name, example })));
  assert(examples.length >= 200, `${examples.length} events`);
  let taken = 0;
  for (const { name, example } of examples) {
    for (const to of ['all', 'review', 'merged']) {
      const raw = Buffer.from(JSON.stringify(example));
      const path = `/webhooks/${to}`;
      const unsigned = { method: 'POST', url: path, public_url: null, body: raw, id: `id-${++count}`, event: name };
      const { headers, body: signed } = signRequest(scheme, SECRET, unsigned, Date.now());
      const sent = { path, headers: { 'content-type': 'application/json', ...headers }, body: signed };
      const found = await explain(table, to, sent);
      const answered = await served(gateway, sent);
      assert.deepEqual(explained(found, answered), answered, `${name} to ${to}`);
      if (found.taken) taken++;
    }
  }
  t.diagnostic(`${examples.length * 3} requests, ${taken} of them taken`);
});
