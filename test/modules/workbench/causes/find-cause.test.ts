/** Tests causes of invalid signatures: thirteen mistakes, for every sender that signs with a shared secret. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SignedResult } from '../../../../modules/workbench/cli/test-event/sign-request.ts';
import { signRequest } from '../../../../modules/workbench/cli/test-event/sign-request.ts';
import { findCause } from '../../../../modules/workbench/runtime/causes/find-cause.ts';
import { jsonSpellings, MAX_SPELLED } from '../../../../modules/workbench/runtime/causes/near-misses.ts';
import { linkAuthenticator } from '../../../../runtime/verify/authenticator.ts';
import type { RequestParts } from '../../../../runtime/verify/request.ts';
import { LazyRequest } from '../../../../runtime/verify/request.ts';
import type { SecretText } from '../../../../runtime/verify/scheme.ts';
import type { SchemePlan, SignatureCause } from '../../../../schemas/generated/types.ts';
import { loadShippedSources } from '../../../helpers/catalog-sources.ts';
import { keysOf } from '../../../helpers/source-keys.ts';

const NOW = 1_700_000_000_000;
const HOUR = 3_600_000;
const URL_BASE = 'https://hooks.example.test/webhooks/ci';
const BODY = Buffer.from('{"action":"opened","title":"naïve","items":[1,2],"url":"https://example.test/1"}');
const known = loadShippedSources().lowered.map(({ plan }) => plan);

/** Sources that sign the bytes of a JSON body, which the mistakes below change. */
const symmetric = known.filter(
  (plan) =>
    (plan.verify.startsWith('hmac-') || plan.verify === 'token' || plan.verify === 'basic') &&
    plan.signature.every((at) => at.in === 'header' || at.in === 'query'),
);

interface Case {
  readonly plan: SchemePlan;
  readonly secret: string;
  readonly good: SignedResult;
}

interface Wrong {
  readonly parts?: RequestParts;
  readonly schemes?: readonly SchemePlan[];
  readonly secrets?: readonly SecretText[];
  readonly now?: number;
}

interface Way {
  readonly name: string;
  /** Codes that name the mistake. */
  readonly right: readonly string[];
  /** Null: this mistake is impossible with this sender. */
  readonly make: (made: Case) => Wrong | null;
}

const signs = (plan: SchemePlan): boolean => plan.verify.startsWith('hmac-');
/** Whether the bytes of the body are signed. */
const signsBody = (plan: SchemePlan): boolean =>
  signs(plan) && (plan.body_hash !== null || plan.signed.some(({ kind }) => kind === 'body'));
const current = (text: string): SecretText => ({ text, expires_at: null });

function partsOf({ url, headers, body }: SignedResult, changes: Partial<SignedResult> = {}): RequestParts {
  const all = { ...headers, ...changes.headers };
  const lower = Object.fromEntries(Object.entries(all).map(([name, value]) => [name.toLowerCase(), value]));
  return {
    method: 'POST',
    url: changes.url ?? url,
    headers: lower,
    rawHeaders: Object.entries(all).flat(),
    body: changes.body ?? body,
  };
}

/** Returns the request with a changed signature; null if it is in the query. */
function resigned(made: Case, change: (signature: string) => string): Wrong | null {
  const [at] = made.plan.signature;
  if (at === undefined || at.in !== 'header') return null;
  const value = made.good.headers[at.name] ?? '';
  return { parts: partsOf(made.good, { headers: { [at.name]: change(value) } }) };
}

/** Returns a header with a changed digest after its prefix: `t=…,v1=<digest>`. */
function withDigest({ signature }: SchemePlan, value: string, change: (digest: string) => string): string {
  const prefix = signature[0]?.prefix ?? '';
  const start = value.lastIndexOf(prefix) + prefix.length;
  return value.slice(0, start) + change(value.slice(start));
}

const sign = (plan: SchemePlan, secret: string, now: number, body = BODY): SignedResult =>
  signRequest(
    plan,
    secret,
    { method: 'POST', url: '/webhooks/ci', public_url: URL_BASE, body, id: 'id-1', event: null },
    now,
  );

const WAYS: readonly Way[] = [
  {
    name: 'no signature',
    right: ['missing_signature', 'missing_credential'],
    make: () => ({ parts: { method: 'POST', url: '/webhooks/ci', headers: {}, rawHeaders: [], body: BODY } }),
  },
  {
    name: "another sender's signature",
    right: ['other_scheme'],
    make: ({ plan, secret, good }) => {
      const places = plan.signature.map(({ name }) => name);
      const other = known.find(
        (each) =>
          each.verify === 'hmac-sha256' &&
          each.secret.as === 'utf8' &&
          each.secret.strip === '' &&
          each.name !== plan.name &&
          each.signature.every((at) => at.in === 'header' && !places.includes(at.name)),
      );
      if (other === undefined || plan.verify === 'basic') return null;
      return { parts: partsOf(good), schemes: [other], secrets: [current(secret)] };
    },
  },
  {
    name: 'an hour late',
    right: ['stale_timestamp'],
    make: ({ plan, secret }) =>
      plan.timestamp === null
        ? null
        : { parts: partsOf(sign(plan, secret, NOW - plan.timestamp.tolerance * 1000 - HOUR)) },
  },
  {
    name: 'an hour early',
    right: ['future_timestamp'],
    make: ({ plan, secret }) =>
      plan.timestamp === null
        ? null
        : { parts: partsOf(sign(plan, secret, NOW + plan.timestamp.tolerance * 1000 + HOUR)) },
  },
  {
    name: 'a timestamp in another unit',
    right: ['timestamp_unit'],
    make: ({ plan, secret }) => {
      if (plan.timestamp === null || plan.timestamp.at.in === 'json') return null;
      const unit = plan.timestamp.unit === 's' ? 'ms' : 's';
      return { parts: partsOf(sign({ ...plan, timestamp: { ...plan.timestamp, unit } }, secret, NOW)) };
    },
  },
  {
    name: 'another encoding',
    right: ['encoding'],
    make: (made) =>
      signs(made.plan)
        ? resigned(made, (value) =>
            withDigest(made.plan, value, (digest) =>
              Buffer.from(digest, made.plan.encoding).toString(made.plan.encoding === 'hex' ? 'base64' : 'hex'),
            ),
          )
        : null,
  },
  {
    name: 'a body that was written again',
    right: ['body_rewritten'],
    make: ({ plan, good }) =>
      signsBody(plan) && plan.body_hash === null
        ? { parts: partsOf(good, { body: Buffer.from(JSON.stringify(JSON.parse(good.body.toString()), null, 2)) }) }
        : null,
  },
  {
    name: 'a body that gained a line break',
    right: ['line_break'],
    make: ({ plan, good }) =>
      signsBody(plan) && plan.body_hash === null
        ? { parts: partsOf(good, { body: Buffer.concat([good.body, Buffer.from('\n')]) }) }
        : null,
  },
  {
    name: 'a secret of yesterday',
    right: ['old_secret'],
    make: ({ good, secret, plan }) => ({
      parts: partsOf(good),
      secrets: [current(another(plan)), { text: secret, expires_at: NOW - HOUR }],
    }),
  },
  {
    name: 'another secret',
    right: ['unknown'],
    make: ({ good, plan }) => ({ parts: partsOf(good), secrets: [current(another(plan))] }),
  },
  {
    name: 'a secret with a line break',
    right: ['secret_whitespace'],
    make: ({ good, plan, secret }) =>
      plan.secret.as === 'utf8' && plan.verify !== 'basic'
        ? { parts: partsOf(good), secrets: [current(`${secret}\n`)] }
        : null,
  },
  {
    name: 'no prefix',
    right: ['prefix'],
    make: (made) => {
      const prefix = made.plan.signature[0]?.prefix ?? '';
      return prefix === '' || made.plan.signature[0]?.split !== ''
        ? null
        : resigned(made, (value) => value.slice(prefix.length));
    },
  },
  {
    name: 'a body that is another',
    right: ['unknown', 'body_mismatch'],
    make: ({ plan, good }) =>
      signsBody(plan)
        ? { parts: partsOf(good, { body: Buffer.from(good.body.toString().replace('opened', 'closed')) }) }
        : null,
  },
];

function another(plan: SchemePlan): string {
  const key = Buffer.from('fedcba9876543210fedcba9876543210');
  const text =
    plan.verify === 'basic'
      ? 'user:other'
      : key.toString(plan.secret.as === 'utf8' ? 'utf8' : plan.secret.as === 'hex' ? 'hex' : 'base64');
  return plan.secret.strip + text;
}

/** Returns null if the request is accepted, so that there is nothing to explain. */
function causeOf(made: Case, wrong: Wrong): SignatureCause | null {
  const schemes = wrong.schemes ?? [made.plan];
  const secrets = wrong.secrets ?? [current(made.secret)];
  const parts = wrong.parts ?? partsOf(made.good);
  const now = wrong.now ?? NOW;
  const authenticator = linkAuthenticator({ schemes, secrets, insecure: false, public_url: URL_BASE });
  const refused = authenticator.authenticate(new LazyRequest(parts), now);
  if (refused.ok) return null;
  return findCause({ refused, parts, schemes, known, secrets, publicUrl: URL_BASE, now });
}

interface Result {
  readonly scheme: string;
  readonly way: Way;
  readonly cause: SignatureCause;
}

const results: readonly Result[] = symmetric.flatMap((plan) => {
  const secret = keysOf(plan).receiving;
  const made: Case = { plan, secret, good: sign(plan, secret, NOW) };
  assert.equal(causeOf(made, {}), null, `${plan.name}: the good request is accepted`);
  return WAYS.flatMap((way) => {
    const wrong = way.make(made);
    const cause = wrong === null ? null : causeOf(made, wrong);
    return cause === null ? [] : [{ scheme: plan.name, way, cause }];
  });
});

const isRight = ({ way, cause }: Result): boolean => way.right.includes(cause.code);
const print = ({ scheme, way, cause }: Result): string =>
  `${scheme}: ${way.name} is called ${cause.code}${cause.certain ? ', certainly' : ''}`;

test('tries every mistake with many senders', () => {
  assert(symmetric.length >= 40, `${symmetric.length} senders`);
  for (const { name } of WAYS) {
    const count = results.filter(({ way }) => way.name === name).length;
    assert(count >= 10, `${name}: ${count} senders`);
  }
});

test('finds the right cause in 95 of 100 cases', (t) => {
  const wrong = results.filter((result) => !isRight(result));
  const share = 1 - wrong.length / results.length;
  t.diagnostic(`${results.length} cases of ${symmetric.length} senders, ${(share * 100).toFixed(1)} % right`);
  assert(share >= 0.95, wrong.map(print).join('\n'));
});

test('is never certain of a wrong cause', () => {
  assert.deepEqual(results.filter((result) => result.cause.certain && !isRight(result)).map(print), []);
});

test('shows no secret or signature', () => {
  for (const { cause } of results) assert.doesNotMatch(cause.text, /0123456789abcdef|fedcba98|[0-9a-f]{32}/i);
});

const github = known.find(({ name }) => name === 'github') as SchemePlan;
const SECRET = 'a secret of sixteen characters';

/** The cause when another body arrives instead of the signed one. */
function causeOfBody(signedText: string, arrived: string): SignatureCause | null {
  const good = sign(github, SECRET, NOW, Buffer.from(signedText));
  return causeOf({ plan: github, secret: SECRET, good }, { parts: partsOf(good, { body: Buffer.from(arrived) }) });
}

test('recognises a rewritten body by any serializer', () => {
  for (const [writer, signedText, arrived] of [
    ['PHP', '{"u":"https:\\/\\/x.test\\/\\u00fc"}', '{"u": "https://x.test/ü"}'],
    ['Go', '{"u":"a\\u0026b \\u003cc\\u003e ü"}', '{"u": "a&b <c> ü"}'],
    ['an encoder of Go, which ends the line', '{"u":"a\\u0026b"}\n', '{"u":"a&b"}'],
    ['Python', '{"u": "\\u00fc", "n": [1, 2]}', '{"u":"ü","n":[1,2]}'],
    ['a writer of whole floats', '{"n":1.0,"m":[]}', '{ "n": 1.0, "m": [] }'],
    ['a writer of large numbers', '{"n":12345678901234567890}', '{\n  "n": 12345678901234567890\n}'],
    ['a writer of one key twice', '{"2":1,"1":2,"1":3}', '{"2": 1, "1": 2, "1": 3}'],
    ['one that indents by tabs', '{\n\t"a": {},\n\t"b": [\n\t\t1\n\t]\n}', '{"a":{},"b":[1]}'],
  ] as const) {
    assert.equal(causeOfBody(signedText, arrived)?.code, 'body_rewritten', writer);
  }
  assert.equal(causeOfBody('{"a":1}', '\ufeff{"a":1}')?.code, 'byte_order_mark');
  assert.equal(causeOfBody('\ufeff{"a":  1}', '{"a":  1}')?.code, 'byte_order_mark');
});

test('tries no spellings of a body that is too deep or too long', () => {
  assert.deepEqual([...jsonSpellings('['.repeat(100_000) + ']'.repeat(100_000))], []);
  assert.deepEqual([...jsonSpellings(`"${'a'.repeat(MAX_SPELLED)}"`)], []);
  assert.equal([...jsonSpellings(`"${'a'.repeat(MAX_SPELLED / 2)}"`)].length, 10);
});

test('does not report another encoding if only the prefix is missing', () => {
  const standard = known.find(({ name }) => name === 'standard-webhooks') as SchemePlan;
  const secret = keysOf(standard).receiving;
  const made: Case = { plan: standard, secret, good: sign(standard, secret, NOW) };
  const wrong = resigned(made, (value) => value.replace(/^v1,/, ''));
  assert.equal(causeOf(made, wrong ?? {})?.code, 'prefix');
});

test('reports an invalid timestamp with the expected form', () => {
  const slack = known.find(({ name }) => name === 'slack') as SchemePlan;
  const made: Case = { plan: slack, secret: SECRET, good: sign(slack, SECRET, NOW) };
  const cause = causeOf(made, { parts: partsOf(made.good, { headers: { 'x-slack-request-timestamp': 'abc' } }) });
  assert.deepEqual([cause?.code, cause?.certain], ['bad_timestamp', true]);
});

/** The cause for a request to a route that accepts only GitHub. */
function causeOfHeaders(headers: Readonly<Record<string, string>>, url = '/webhooks/ci'): SignatureCause | null {
  const unsigned = { url, headers: {}, body: BODY };
  return causeOf({ plan: github, secret: SECRET, good: unsigned }, { parts: partsOf(unsigned, { headers }) });
}

test('names no sender for a token in a place that several senders use', () => {
  const cause = causeOfHeaders({ Authorization: `Bearer ${SECRET}` });
  assert.equal(cause?.code, 'other_scheme');
  assert.match(cause?.text ?? '', /\bauthorization\b.*\balertmanager\b.*\bbearer\b/);
  const named = causeOfHeaders({ Authorization: `Bearer ${SECRET}`, 'X-Request-ID': '1' });
  assert.match(named?.text ?? '', /\bauthorization\b.*\bbearer\b/);
  assert.doesNotMatch(named?.text ?? '', /alertmanager/);
});

test('names the header of the fewest senders first', () => {
  const cause = causeOfHeaders({ Authorization: 'Bearer x', 'X-Gitlab-Token': 'x' });
  assert.deepEqual([cause?.code, cause?.certain], ['other_scheme', false]);
  assert.match(cause?.text ?? '', /\bx-gitlab-token\b.*\bauthorization\b/);
});

test('finds the complete secret in a place that the route does not read', () => {
  for (const [headers, url, place] of [
    [{ 'X-Whatever': SECRET }, undefined, 'x-whatever'],
    [{ Authorization: `token ${SECRET}` }, undefined, 'authorization'],
    [{}, `/webhooks/ci?word=${encodeURIComponent(SECRET)}`, '?word'],
  ] as const) {
    const cause = causeOfHeaders(headers, url);
    assert.deepEqual([cause?.code, cause?.certain], ['misplaced_secret', true], place);
    assert(cause?.text.includes(` ${place}`), cause?.text);
    assert(!cause?.text.includes(SECRET));
  }
  assert.equal(causeOfHeaders({ 'X-Whatever': `${SECRET}x` })?.code, 'missing_signature');
});
