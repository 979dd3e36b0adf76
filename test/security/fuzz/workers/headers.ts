/**
 * Fuzzes genuine requests of every shipped source, captured without the key: headers are added, dropped, doubled or moved from
 * other senders; address and body are changed. An accepted request still has the signed payload, id and event.
 */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { lowerDefaultSources } from '../../../../compiler/lower/sources.ts';
import { systemClock } from '../../../../runtime/platform/clock.ts';
import { LazyRequest, readLocatedText } from '../../../../runtime/verify/request.ts';
import type { LocatorPlan, SchemePlan } from '../../../../schemas/generated/types.ts';
import { loadShippedSources } from '../../../helpers/catalog-sources.ts';
import type { Handed } from '../../../helpers/fake-dispatcher.ts';
import { vectorRequest, vectors } from '../../../helpers/vectors.ts';
import { checkAnswer } from '../answers.ts';
import type { BenchGateway } from '../bench-gateway.ts';
import { openGateway } from '../bench-gateway.ts';
import { KeptConnection } from '../connection.ts';
import { latin1 } from '../damage.ts';
import { ODD_TEXTS, sourceWords } from '../words.ts';
import type { FuzzWorker } from '../worker.ts';
import { Closing, LOOP_MS } from '../worker.ts';

type Header = readonly [name: string, value: string];

interface Request {
  readonly method: string;
  /** The rest of the URL after the route's path. */
  readonly query: string;
  readonly headers: readonly Header[];
  /** One character a byte. */
  readonly body: string;
}

interface Sample {
  readonly plan: SchemePlan;
  readonly secret: string;
  readonly publicUrl: string | null;
  /** Unix ms at which it was sent. */
  readonly now: number;
  readonly request: Request;
}

const FORM = /^[a-z_]+=/;
const FORM_TYPE: Header = ['Content-Type', 'application/x-www-form-urlencoded'];

/** One captured request of every source that can be served with a shared secret or a public key. */
const SAMPLES: readonly Sample[] = loadShippedSources().lowered.flatMap(({ name, plan }) => {
  const vector = vectors.find((one) => one.valid && loadShippedSources().plan(one.scheme).name === name);
  if (vector === undefined || plan.verify === 'none') return [];
  const { method, url, rawHeaders, body, public_url } = vectorRequest(vector);
  const headers = rawHeaders.flatMap((text, at): Header[] => (at % 2 === 0 ? [[text, rawHeaders[at + 1] ?? '']] : []));
  const text = body.toString('latin1');
  // Vectors contain the signed bytes; a form is accepted as one only if its type says so, as its sender does.
  if (FORM.test(text) && !headers.some(([name]) => /^content-type$/i.test(name))) headers.push(FORM_TYPE);
  const request = { method, query: url.slice(1), headers, body: text };
  return [{ plan, secret: vector.secret, publicUrl: public_url, now: (vector.now ?? 1_700_000_000) * 1000, request }];
});

/** The schemes of a route without a source, in the order in which they decide. */
const UNPINNED = lowerDefaultSources(loadShippedSources().lowered).default_schemes.map((name) =>
  loadShippedSources().plan(name),
);

/** The senders' published keys would rightly be rejected in a configuration. */
const variableOf = (index: number): string => `KEY_${index}`;
const ENV = Object.fromEntries(SAMPLES.map(({ secret }, index) => [variableOf(index), secret]));

/** Each source pinned, and the header-driven choice with the same secret. */
function config(): string {
  const routes = SAMPLES.flatMap(({ plan, publicUrl }, index) => {
    const asymmetric = plan.verify === 'ed25519' || plan.verify === 'ecdsa-p256';
    const route = {
      [asymmetric ? 'public_key' : 'secret']: `env:${variableOf(index)}`,
      ...(publicUrl === null ? {} : { public_url: publicUrl.split('?')[0] }),
      prompt: '{__raw__}',
    };
    const pinned = [`own-${index}`, { ...route, source: plan.name }];
    return asymmetric ? [pinned] : [pinned, [`any-${index}`, { ...route }]];
  });
  const webhook = { enabled: true, rate_limit: 1_000_000, routes: Object.fromEntries(routes) };
  return JSON.stringify({ platforms: { webhook } });
}

interface Edit {
  readonly kind: 'add' | 'drop' | 'double' | 'set' | 'case' | 'body' | 'query' | 'method' | 'all';
  /** Index of the edited element, modulo their number. */
  readonly at: number;
  readonly name: string;
  readonly value: string;
}

interface HeaderCase {
  readonly sample: string;
  readonly pinned: boolean;
  readonly edits: readonly Edit[];
}

const { headers: NAMES, events: EVENTS } = sourceWords();
const MORE_NAMES = [
  'Content-Type',
  'Content-Encoding',
  'Origin',
  'Sec-Fetch-Site',
  'X-Webhook-Signature_V2',
  'X_Hub_Signature_256',
];
const TYPES = [
  'application/x-www-form-urlencoded',
  'application/json',
  'application/x-www-form-urlencoded; charset=utf-8',
  'text/plain',
  'text/xml',
];
/** Bytes allowed in a header, as one character each. */
const headerText = (text: string): string =>
  Buffer.from(text, 'utf8')
    .toString('latin1')
    .replace(/[\0-\x08\x0a-\x1f\x7f]/g, '');
const VALUES = [
  ...[...ODD_TEXTS, ...EVENTS, ...TYPES].map(headerText),
  ...SAMPLES.flatMap(({ request }) => request.headers.map(([, value]) => value)),
];
const BODIES = [
  '',
  '{}',
  '&',
  'payload={}',
  '{"type":"evil","event_type":"evil","id":"evil"}',
  '&x=y',
  ' ',
  ...ODD_TEXTS.map((text) => Buffer.from(text).toString('latin1')),
];

const edit: fc.Arbitrary<Edit> = fc.record({
  kind: fc.constantFrom<Edit['kind'][]>(
    'add',
    'add',
    'add',
    'drop',
    'double',
    'set',
    'case',
    'body',
    'query',
    'method',
    'all',
  ),
  at: fc.nat({ max: 40 }),
  name: fc.constantFrom(...NAMES, ...MORE_NAMES),
  value: fc.oneof(fc.constantFrom(...VALUES), fc.constantFrom(...BODIES), fc.string({ maxLength: 12 })),
});

const APPLY: Readonly<Record<Edit['kind'], (request: Request, edit: Edit) => Request>> = {
  add: (request, { name, value }) => ({ ...request, headers: [...request.headers, [name, headerText(value)]] }),
  drop: (request, { at }) => ({
    ...request,
    headers: request.headers.filter((_, index) => index !== at % count(request)),
  }),
  double: (request, { at }) => {
    const header = request.headers[at % count(request)];
    return header === undefined ? request : { ...request, headers: [...request.headers, header] };
  },
  set: (request, { at, value }) => ({
    ...request,
    headers: request.headers.map((header, index) =>
      index === at % count(request) ? [header[0], headerText(value)] : header,
    ),
  }),
  case: (request, { at }) => ({
    ...request,
    headers: request.headers.map(([name, value], index) => [
      index === at % count(request) ? name.toUpperCase() : name,
      value,
    ]),
  }),
  body: (request, { at, value }) => {
    const place = at % (request.body.length + 1);
    return {
      ...request,
      body: request.body.slice(0, place) + Buffer.from(value).toString('latin1') + request.body.slice(place),
    };
  },
  query: (request, { value }) => ({
    ...request,
    query: `${request.query}${request.query === '' ? '?' : '&'}${encodeURIComponent(Buffer.from(value).toString('latin1'))}`,
  }),
  method: (request, { at }) => ({ ...request, method: ['POST', 'GET', 'HEAD', 'PUT'][at % 4] ?? 'POST' }),
  all: (request, { at }) => ({
    ...request,
    headers: [...request.headers, ...(SAMPLES[at % SAMPLES.length]?.request.headers ?? [])],
  }),
};

const isAnothers = ({ plan, secret }: Sample, { body }: Request): boolean =>
  SAMPLES.some((other) => other.plan !== plan && other.secret === secret && other.request.body === body);

const count = ({ headers }: Request): number => Math.max(1, headers.length);

function bytesOf(path: string, { method, query, headers, body }: Request): Buffer {
  const lines = [
    `${method} ${path}${query} HTTP/1.1`,
    'Host: 127.0.0.1',
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ];
  return latin1(`${lines.join('\r\n')}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
}

const bindsBody = ({ signed, body_hash }: SchemePlan): boolean =>
  body_hash !== null || signed.some(({ kind }) => kind === 'body');

/** Location of the value in a genuine request: signed, unsigned, or none. */
function originOf(places: readonly LocatorPlan[], plan: SchemePlan, genuine: Request): 'signed' | 'unsigned' | 'none' {
  const { method, query: url, body, headers: lines } = genuine;
  const headers = Object.fromEntries(lines.map(([name, value]) => [name.toLowerCase(), value]));
  const request = new LazyRequest({ method, url, headers, rawHeaders: lines.flat(), body: latin1(body) });
  const first = places.find((at) => readLocatedText(at, request) !== null);
  if (first === undefined) return places.length === 0 || places.some((at) => at.in === 'header') ? 'unsigned' : 'none';
  if (first.in === 'json' || first.in === 'form') return bindsBody(plan) ? 'signed' : 'unsigned';
  return plan.id?.name === first.name && plan.signed.some(({ kind }) => kind === 'id') ? 'signed' : 'unsigned';
}

/**
 * The sources that a route without a source accepts: senders share headers, and one of the schemes that every route accepts may
 * verify a request of another sender.
 */
const unpinnedPlan = ({ plan, request: { headers } }: Sample): SchemePlan =>
  UNPINNED.find(({ signature }) =>
    signature.some((place) => place.in === 'header' && headers.some(([name]) => name.toLowerCase() === place.name)),
  ) ?? plan;

/** Compares the accepted request with the signed content. */
function check({ plan, secret, request }: Sample, genuine: Handed, taken: Handed, sent: Request): void {
  const text = JSON.stringify(sent);
  if (plan.verify === 'token' || plan.verify === 'basic') {
    const credential = plan.verify === 'basic' ? Buffer.from(secret).toString('base64') : secret;
    assert.ok(
      text.includes(credential) || text.includes(encodeURIComponent(credential)),
      `taken without a credential ('${plan.name}')`,
    );
    return;
  }
  if (bindsBody(plan))
    assert.equal(
      taken.dispatch.prompt,
      genuine.dispatch.prompt,
      `another payload than the signed one ('${plan.name}')`,
    );
  if (originOf(plan.delivery, plan, request) === 'signed')
    assert.equal(idOf(taken), idOf(genuine), `another id than the signed one ('${plan.name}')`);
  // A source with a location for its event has no other; only the specification's own schemes use its headers.
  const event = originOf(plan.event, plan, request);
  if (event === 'signed' || (event === 'none' && bindsBody(plan) && !plan.name.startsWith('generic')))
    assert.equal(taken.dispatch.event, genuine.dispatch.event, `another event than the signed one ('${plan.name}')`);
}

/** Null for a generated id, because the request has none. */
const idOf = ({ claim }: Handed): string | null => (claim.generated ? null : claim.delivery_id);

class HeaderBench {
  readonly longestMs = LOOP_MS;
  private readonly closing: Closing;
  private readonly gateway: BenchGateway;
  private readonly clock: { now: number };
  private readonly connection: KeptConnection;
  /** Outcome of the unchanged request, by path. */
  private readonly genuine = new Map<string, Handed | null>();

  constructor(closing: Closing, gateway: BenchGateway, clock: { now: number }) {
    this.closing = closing;
    this.gateway = gateway;
    this.clock = clock;
    this.connection = new KeptConnection(gateway.port);
  }

  async close(): Promise<void> {
    this.connection.close();
    await this.closing.close();
  }

  async run({ sample: name, pinned, edits }: HeaderCase): Promise<void> {
    const index = SAMPLES.findIndex(({ plan }) => plan.name === name);
    const sample = SAMPLES[index];
    if (sample === undefined) throw new Error(`no sample of ${name}`);
    const path = `/webhooks/${pinned ? 'own' : 'any'}-${index}`;
    this.clock.now = sample.now;
    const genuine = await this.capture(path, sample);
    const sent = edits.reduce((request, one) => APPLY[one.kind](request, one), sample.request);
    const [taken] = await this.send(path, sent);
    if (taken === undefined) return;
    // Some vectors share key and body; with another's headers, such a request is genuine too.
    if (genuine === null && !pinned && isAnothers(sample, sent)) return;
    assert.ok(genuine !== null, `taken, although the genuine request is not ('${name}')`);
    check(pinned ? sample : { ...sample, plan: unpinnedPlan(sample) }, genuine, taken, sent);
  }

  private async capture(path: string, { request }: Sample): Promise<Handed | null> {
    const known = this.genuine.get(path);
    if (known !== undefined) return known;
    const [first = null] = await this.send(path, request);
    this.genuine.set(path, first);
    return first;
  }

  /** The dispatch of the request. Every request is new to the dispatcher: accepted ones are forgotten. */
  private async send(path: string, request: Request): Promise<readonly Handed[]> {
    const answer = await this.connection.send(bytesOf(path, request), request.method === 'HEAD');
    if (answer !== null) checkAnswer(answer);
    this.gateway.dispatcher.forget();
    return this.gateway.dispatcher.handed.splice(0);
  }
}

export const headers: FuzzWorker<HeaderCase> = {
  name: 'headers',
  cases: fc.record({
    sample: fc.constantFrom(...SAMPLES.map(({ plan }) => plan.name)),
    pinned: fc.boolean(),
    edits: fc.array(edit, { minLength: 1, maxLength: 5 }),
  }),
  async open() {
    const closing = new Closing();
    const clock = { now: 0 };
    const gateway = await openGateway(closing, config(), {
      clock: { ...systemClock, now: () => clock.now },
      patient: true,
      env: ENV,
    });
    return new HeaderBench(closing, gateway, clock);
  },
};
