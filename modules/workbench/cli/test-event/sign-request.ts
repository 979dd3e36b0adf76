/** Signs a request as its sender does, with any scheme. */
import { createHash, createHmac, createPrivateKey, sign as signWith } from 'node:crypto';
import {
  contentBytes,
  eachItem,
  itemPath,
  linkContent,
  urlBases,
  withPayload,
} from '../../../../runtime/verify/content.ts';
import { secretKeys } from '../../../../runtime/verify/primitives.ts';
import type { SignedRequest } from '../../../../runtime/verify/request.ts';
import { LazyRequest } from '../../../../runtime/verify/request.ts';
import type { LocatorPlan, SchemePlan } from '../../../../schemas/generated/types.ts';
import { insertIntoBody, SignError } from './sign-body.ts';

/** A request to sign, for `webhook test` and for tests. */
export interface UnsignedRequest {
  readonly method: string;
  /** Request target: path and query. */
  readonly url: string;
  /** The receiver's `public_url`, without a query; required if the URL is signed. */
  readonly public_url: string | null;
  readonly body: Buffer;
  /** The delivery id, also used as the signed id. */
  readonly id: string;
  /** The event type, in the sender's place for it; null: none. */
  readonly event: string | null;
}

export interface SignedResult {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** A place and its value, set before anything is signed. */
type Placement = readonly [LocatorPlan, string | number];

/**
 * Returns the request with the scheme's headers, or with a changed body if the scheme signs inside the body.
 * @param secret the route's secret; for asymmetric schemes the sender's private key as PEM
 * @param now Unix time in ms
 * @throws SignError if the secret is not a valid key for the scheme, or the body cannot contain the signature
 */
export function signRequest(plan: SchemePlan, secret: string, unsigned: UnsignedRequest, now: number): SignedResult {
  const timestamp = plan.timestamp === null ? '' : instantText(plan.timestamp.unit, now);
  const placements = unsignedPlacements(plan, unsigned, timestamp);
  let payload = insertIntoBody(plan, unsigned.body, placements);
  let url = withBodyHash(plan, unsigned.url, payload.body);
  const sent = payload.type === null ? {} : { 'content-type': payload.type };
  const request = new LazyRequest({ method: unsigned.method, url, headers: sent, rawHeaders: [], body: payload.body });
  const sign = (signed: SignedRequest) => signatureOf(plan, secret, { ...unsigned, request: signed }, timestamp);
  const headers = { ...plan.headers, ...headerTexts(placements) };
  const at = plan.signature[0];
  if (at?.in === 'header') addToHeader(headers, at, sign(request));
  else if (at?.in === 'query') url = addQuery(url, at.name, sign(request));
  else if (at !== undefined) payload = insertIntoBody(plan, payload.body, signEach(plan, at, request, sign));
  const type = payload.type === null ? {} : { 'content-type': payload.type };
  return { url, headers: { ...headers, ...type }, body: payload.body };
}

/** Signs each item if the scheme signs items, otherwise the request. */
function signEach(
  plan: SchemePlan,
  at: LocatorPlan,
  request: SignedRequest,
  sign: (request: SignedRequest) => string,
): Placement[] {
  const items = itemPath(plan);
  if (items === null) return [[at, sign(request)]];
  return [...eachItem(request.payload(), items)].map(([payload, path]) => [
    { ...at, path: [...path, ...at.path.slice(path.length)] },
    sign(withPayload(request, payload)),
  ]);
}

/** The event type, delivery id and timestamp with their places. */
function unsignedPlacements(plan: SchemePlan, unsigned: UnsignedRequest, timestamp: string): Placement[] {
  const placements: Placement[] = [];
  const event = plan.event[0];
  if (event !== undefined && unsigned.event !== null) placements.push([inBatch(event, plan), unsigned.event]);
  const delivery = plan.delivery.find((at) => at.in === 'header');
  if (delivery !== undefined) placements.push([delivery, unsigned.id]);
  if (plan.id !== null) placements.push([plan.id, unsigned.id]);
  if (plan.timestamp !== null) {
    const { at, unit } = plan.timestamp;
    placements.push([at, at.in === 'json' && unit !== 'iso' ? Number(timestamp) : timestamp]);
  }
  return placements;
}

function signatureOf(
  plan: SchemePlan,
  secret: string,
  { request, id, public_url }: Pick<UnsignedRequest, 'id' | 'public_url'> & { readonly request: SignedRequest },
  timestamp: string,
): string {
  if (plan.verify === 'token' || plan.verify === 'none') return secret;
  if (plan.verify === 'basic') return Buffer.from(secret, 'utf8').toString('base64');
  const [base] = urlBases(public_url, plan.signed);
  if (base === undefined) throw new SignError(`\`${plan.name}\` signs the URL: the route needs \`public_url\``);
  const data = contentBytes(linkContent(plan.signed)({ request, timestamp, id, base }));
  return plan.verify === 'ed25519' || plan.verify === 'ecdsa-p256'
    ? privateSignature(plan, secret, data)
    : hmacSignature(plan, secret, data);
}

function hmacSignature(plan: SchemePlan, secret: string, data: Buffer): string {
  const key = secretKeys(secret, plan.secret)[0];
  if (key === undefined) throw new SignError(`the secret is not a valid key for \`${plan.name}\``);
  return createHmac(plan.verify.slice('hmac-'.length), key).update(data).digest(plan.encoding);
}

function privateSignature(plan: SchemePlan, secret: string, data: Buffer): string {
  try {
    const key = createPrivateKey(secret);
    return signWith(plan.verify === 'ed25519' ? null : 'sha256', data, key).toString(plan.encoding);
  } catch {
    throw new SignError(`\`${plan.name}\` signs with the sender's private key: pass one as PEM`);
  }
}

function instantText(unit: NonNullable<SchemePlan['timestamp']>['unit'], now: number): string {
  if (unit === 'iso') return new Date(now).toISOString();
  return String(unit === 's' ? Math.floor(now / 1000) : now);
}

function withBodyHash(plan: SchemePlan, url: string, body: Buffer): string {
  if (plan.body_hash?.at.in !== 'query') return url;
  const { at, hash, encoding } = plan.body_hash;
  return addQuery(url, at.name, createHash(hash).update(body).digest(encoding));
}

function addQuery(url: string, name: string, value: string): string {
  return `${url}${url.includes('?') ? '&' : '?'}${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
}

function headerTexts(placements: readonly Placement[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [at, value] of placements) if (at.in === 'header') addToHeader(headers, at, String(value));
  return headers;
}

/** Adds an element to a header that may already have elements: `t=…` and `v1=…` share a header. */
function addToHeader(headers: Record<string, string>, at: LocatorPlan, value: string): void {
  const element = at.prefix + value;
  const before = headers[at.name];
  headers[at.name] = before === undefined || at.split === '' ? element : `${before}${at.split}${element}`;
}

/** A place in an item, seen from the root of the body. */
function inBatch(at: LocatorPlan, { each }: SchemePlan): LocatorPlan {
  if (each === undefined || at.in !== 'json') return at;
  const [first, ...rest] = at.path;
  return { ...at, path: first === 'batch' ? rest : [...each.flatMap((list) => [...list, '0']), ...at.path] };
}
