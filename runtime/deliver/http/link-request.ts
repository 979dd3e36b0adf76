/** Links one request of a target to a function that builds it. The host is fixed, and every value is encoded for its place. */

import type { BaseUrl } from '../../../base/base-url.ts';
import type { NamedTemplate, RequestPlan, ValueRef } from '../../../schemas/generated/types.ts';
import type { ShownRequest } from '../driver.ts';
import { linkBody } from './body.ts';
import type { Fill, FillScope, Values } from './values.ts';
import { DeliveryRefusal, fillWith, HIDDEN, hideSecrets, linkFill } from './values.ts';

export interface HttpRequest {
  readonly origin: string;
  readonly method: RequestPlan['method'];
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** The base URL and settings that a request is linked with. */
export interface RequestScope {
  readonly base: BaseUrl;
  readonly settings: ReadonlyMap<string, string>;
}

/** The returned function throws DeliveryRefusal when a value is missing or not allowed in its place. */
export function linkRequest(plan: RequestPlan, { base, settings }: RequestScope): (values: Values) => HttpRequest {
  const path = linkFill(plan.path, { settings, write: encodeSegment });
  const query = linkQuery(plan.query, { settings, write: encode });
  const first = base.query === '' ? '' : `?${base.query}`;
  const body = linkBody(plan.body, { settings });
  const headers = linkHeaders(plan, body.type, { settings });
  const { origin } = base;
  const { method } = plan;
  return (values) => {
    const filled = `${base.path}${fillWith(path, values) ?? ''}`;
    const target = `${filled === '' ? '/' : filled}${first}${query(values, first === '' ? '?' : '&')}`;
    return { origin, method, path: target, headers: headers(values), body: body.write(values) };
  };
}

/** Builds the same request for a dry run, with secrets hidden. */
export function showRequest(plan: RequestPlan, values: Values, { base, settings }: RequestScope): ShownRequest {
  const hide = hideSecrets();
  const path = fillWith(linkFill(plan.path, { settings, write: hideSecrets(encodeSegment) }), values) ?? '';
  const body = linkBody(plan.body, { settings, write: hide });
  return {
    method: plan.method,
    url: `${base.shown}${path}${linkQuery(plan.query, { settings, write: hide })(values, '?')}`,
    headers: linkHeaders(plan, body.type, { settings, write: hide })(values),
    body: body.write(values),
  };
}

/** Encodes all but unreserved characters (RFC 3986); settings may also have `:` and `@`, which are allowed in a path. */
function encodeSegment(value: string, ref: ValueRef): string {
  if (value === '.' || value === '..') throw new DeliveryRefusal(`\`${ref.name || ref.of}\` may not be ${value}`);
  const encoded = encode(value);
  return ref.of === 'setting' ? encoded.replaceAll('%3A', ':').replaceAll('%40', '@') : encoded;
}

function encode(value: string): string {
  const encoded = encodeURIComponent(value);
  return /[!'()*]/.test(encoded) ? encoded.replace(/[!'()*]/g, percent) : encoded;
}

const percent = (char: string): string => `%${char.charCodeAt(0).toString(16).toUpperCase()}`;

type Query = (values: Values, separator: string) => string;

/** `separator` precedes the first parameter. */
function linkQuery(plans: readonly NamedTemplate[], scope: FillScope): Query {
  if (plans.length === 0) return () => '';
  const parameters = plans.map(({ name, value }) => ({ name: `${encode(name)}=`, fill: linkFill(value, scope) }));
  return (values, separator) => {
    let text = '';
    for (const { name, fill } of parameters) {
      const value = fillWith(fill, values);
      if (value !== null) text += `${text === '' ? separator : '&'}${name}${value}`;
    }
    return text;
  };
}

type Headers = (values: Values) => Readonly<Record<string, string>>;

function linkHeaders(plan: RequestPlan, type: string | null, scope: FillScope): Headers {
  const fixed: Record<string, string> = type === null ? {} : { 'content-type': type };
  const open: { readonly name: string; readonly fill: Fill }[] = [];
  const named = plan.headers.map(({ name, value }) => ({ name, fill: linkFill(value, scope) }));
  for (const { name, fill } of [{ name: 'authorization', fill: linkBasic(plan.basic, scope) }, ...named]) {
    if (typeof fill === 'function') open.push({ name, fill });
    else if (fill !== null) fixed[name] = fill;
  }
  if (open.length === 0) return () => fixed;
  return (values) => {
    const headers = { ...fixed };
    for (const { name, fill } of open) {
      const text = fillWith(fill, values);
      if (text !== null) headers[name] = text;
    }
    return headers;
  };
}

/** The compiler allows only settings here, so the header is the same for every delivery. */
function linkBasic(plan: RequestPlan['basic'], { settings, write }: FillScope): Fill {
  if (plan === null) return null;
  const user = linkFill(plan.user, { settings });
  const password = linkFill(plan.password, { settings });
  if (user === null || password === null) return null;
  if (typeof user === 'string' && typeof password === 'string') {
    const pair = Buffer.from(`${user}:${password}`, 'utf8').toString('base64');
    return `Basic ${write === undefined ? pair : HIDDEN}`;
  }
  // One of them is missing: filling it throws the error that names it.
  return (values) => (fillWith(user, values) === null ? null : fillWith(password, values));
}
