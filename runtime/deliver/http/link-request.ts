/** Links one request of a target to a function that builds it. The host is fixed, and every value is encoded for its place. */
import type { BaseUrl } from '../../../base/net.ts';
import type {
  BodyNode,
  BodyPlan,
  NamedTemplate,
  RequestPlan,
  TextNode,
  ValueRef,
} from '../../../schemas/generated/types.ts';
import type { ShownRequest } from '../deliverer.ts';
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
  if (value === '.' || value === '..') throw new DeliveryRefusal(`\`${ref.name || ref.of}\` must not be ${value}`);
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
  // One of them is missing; filling it throws the error that names it.
  return (values) => (fillWith(user, values) === null ? null : fillWith(password, values));
}

/** Writes request bodies: typed trees as JSON, named texts as forms. */
interface LinkedBody {
  /** Content type; null without a body. */
  readonly type: string | null;
  readonly write: (values: Values) => string | null;
}

/** `write` throws DeliveryRefusal when a required value is empty; without a body it returns null. */
function linkBody(plan: BodyPlan, scope: FillScope): LinkedBody {
  switch (plan.kind) {
    case 'none':
      return { type: null, write: () => null };
    case 'json': {
      const json = linkJson(plan.node, scope);
      return { type: 'application/json; charset=utf-8', write: (values) => jsonWith(json, values) ?? '' };
    }
    case 'form':
      return { type: 'application/x-www-form-urlencoded', write: linkForm(plan.fields, scope) };
    case 'plain': {
      const fill = linkFill(plan.value, scope);
      return { type: 'text/plain; charset=utf-8', write: (values) => fillWith(fill, values) ?? '' };
    }
  }
}

function linkForm(plans: (BodyPlan & { kind: 'form' })['fields'], scope: FillScope): LinkedBody['write'] {
  const fields = plans.map(({ name, value }) => ({ name, fill: linkFill(value, scope) }));
  return (values) => {
    const form = new URLSearchParams();
    for (const { name, fill } of fields) {
      const text = fillWith(fill, values);
      if (text !== null) form.append(name, text);
    }
    return form.toString();
  };
}

/** Constant JSON text, or a function of the values; undefined leaves it out of its parent. */
type Json = string | ((values: Values) => string | undefined);

const jsonWith = (json: Json, values: Values): string | undefined => (typeof json === 'function' ? json(values) : json);

function linkJson(node: BodyNode, scope: FillScope): Json {
  switch (node.kind) {
    case 'literal':
      return JSON.stringify(node.value);
    case 'text': {
      const fill = linkFill(node.value, scope);
      const { cast } = node;
      if (cast === 'list') return linkList(node);
      return (values) => {
        const text = fillWith(fill, values);
        return text === null ? undefined : CASTS[cast](text);
      };
    }
    case 'array':
      return linkArray(node.items.map((item) => linkJson(item, scope)));
    case 'object':
      return linkObject(node, scope);
    case 'json': {
      const inner = linkJson(node.node, scope);
      return (values) => {
        const text = jsonWith(inner, values);
        return text === undefined ? undefined : JSON.stringify(text);
      };
    }
  }
}

/** One content field, unchanged; left out while it is empty. */
function linkList({ value: [only] }: TextNode): Json {
  const name = only?.kind === 'value' ? only.name : '';
  return ({ content }) => {
    const value = Object.hasOwn(content, name) ? content[name] : undefined;
    return value === undefined || value.length === 0 ? undefined : JSON.stringify(value);
  };
}

/** A list of which all items are left out is left out, too. */
const listOf = (items: readonly string[]): string | undefined =>
  items.length === 0 ? undefined : `[${items.join(',')}]`;

function linkArray(items: readonly Json[]): Json {
  if (items.every((item) => typeof item === 'string')) return `[${items.join(',')}]`;
  return (values) => listOf(items.flatMap((item) => jsonWith(item, values) ?? []));
}

function linkObject(node: BodyNode & { kind: 'object' }, scope: FillScope): Json {
  const fields = node.fields.map((field) => ({
    name: `${JSON.stringify(field.name)}:`,
    json: linkJson(field.node, scope),
  }));
  const when = node.when === null ? '' : linkFill(node.when, scope);
  if (when === '' && fields.every(({ json }) => typeof json === 'string')) {
    return `{${fields.map(({ name, json }) => `${name}${String(json)}`).join(',')}}`;
  }
  return (values) => {
    if (fillWith(when, values) === null) return undefined;
    let text = '';
    for (const { name, json } of fields) {
      const value = jsonWith(json, values);
      if (value !== undefined) text += text === '' ? name + value : `,${name}${value}`;
    }
    return `{${text}}`;
  };
}

const INTEGER = /^-?(?:0|[1-9]\d{0,15})$/;
const isInteger = (text: string): boolean => INTEGER.test(text) && Number.isSafeInteger(Number(text));

const CASTS: Readonly<Record<Exclude<TextNode['cast'], 'list'>, (text: string) => string>> = {
  string: (text) => JSON.stringify(text),
  auto: (text) => (isInteger(text) ? text : JSON.stringify(text)),
  int: (text) => {
    if (isInteger(text)) return text;
    // In a request that is only shown, a secret number is hidden as text.
    if (text === HIDDEN) return JSON.stringify(text);
    throw new DeliveryRefusal('an address or setting must be an integer');
  },
};
