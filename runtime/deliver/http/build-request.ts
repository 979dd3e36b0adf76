/** Builds the HTTP request that sends one piece: host fixed when the target was linked, every value encoded in its place. */
import type { NamedTemplate, RequestPlan, ValueRef } from '../../../schemas/generated/types.ts';
import type { BaseUrl } from './base-url.ts';
import { buildBody } from './body.ts';
import type { Values, WriteValue } from './values.ts';
import { DeliveryRefusal, fill, HIDDEN, hideSecrets } from './values.ts';

export interface HttpRequest {
  readonly origin: string;
  readonly method: RequestPlan['method'];
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** A request as it is shown to people: secrets are `***`. */
export interface ShownRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** What a request is built from besides its values. */
export interface RequestFrame {
  readonly plan: RequestPlan;
  readonly base: BaseUrl;
}

/** @throws DeliveryRefusal when a value is missing or cannot stand where the plan puts it. */
export function buildRequest({ plan, base }: RequestFrame, values: Values): HttpRequest {
  const path = `${base.path}${fill(plan.path, values, encodeSegment) ?? ''}`;
  const body = buildBody(plan.body, values);
  return {
    origin: base.origin,
    method: plan.method,
    path: `${path === '' ? '/' : path}${buildQuery(base.query, plan.query, values)}`,
    headers: buildHeaders(plan, values, body.type),
    body: body.text,
  };
}

/** The same request for a dry run. */
export function showRequest({ plan, base }: RequestFrame, values: Values): ShownRequest {
  const path = fill(plan.path, values, hideSecrets(encodeSegment)) ?? '';
  const query = buildQuery('', plan.query, values, hideSecrets());
  const body = buildBody(plan.body, values, hideSecrets());
  return {
    method: plan.method,
    url: `${base.shown}${path}${query}`,
    headers: buildHeaders(plan, values, body.type, hideSecrets()),
    body: body.text,
  };
}

/** RFC 3986: everything but unreserved characters; `:` and `@`, which a path may hold, only from settings. */
function encodeSegment(value: string, ref: ValueRef): string {
  if (value === '.' || value === '..') throw new DeliveryRefusal(`\`${ref.name || ref.of}\` may not be ${value}`);
  const encoded = encode(value);
  return ref.of === 'setting' ? encoded.replaceAll('%3A', ':').replaceAll('%40', '@') : encoded;
}

function encode(value: string): string {
  return encodeURIComponent(value).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

function buildQuery(first: string, query: readonly NamedTemplate[], values: Values, write?: WriteValue): string {
  const parts = first === '' ? [] : [first];
  for (const { name, value } of query) {
    const text = fill(value, values, write);
    if (text !== null) parts.push(`${encode(name)}=${write === undefined ? encode(text) : text}`);
  }
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}

function buildHeaders(
  plan: RequestPlan,
  values: Values,
  type: string | null,
  write?: WriteValue,
): Record<string, string> {
  const headers: Record<string, string> = {};
  if (type !== null) headers['content-type'] = type;
  if (plan.basic !== null) {
    const user = fill(plan.basic.user, values);
    const password = fill(plan.basic.password, values);
    if (user !== null && password !== null) {
      const pair = Buffer.from(`${user}:${password}`, 'utf8').toString('base64');
      headers.authorization = `Basic ${write === undefined ? pair : HIDDEN}`;
    }
  }
  for (const { name, value } of plan.headers) {
    const text = fill(value, values, write);
    if (text !== null) headers[name] = text;
  }
  return headers;
}
