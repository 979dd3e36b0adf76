/**
 * Lowers `platforms.http`, a custom service. URL, headers and body become a variant of the shipped target `http` for
 * each profile. Headers become settings of the target, so that references are resolved like other credentials.
 */

import { tryParseJson } from '../../base/files.ts';
import { isPublicAddress, parseBaseUrl } from '../../base/net.ts';
import { WEBHOOK_SECRET, webhookKey } from '../../base/secret-forms.ts';
import type {
  AddressPlan,
  BodyNode,
  BodyPlan,
  HttpTargetConfig,
  NamedTemplate,
  ProfileConfig,
  RequestPlan,
  SettingPlan,
  TargetPlan,
  ValueRef,
  ValueSegment,
  VariantPlan,
} from '../../schemas/generated/types.ts';
import { HEADER_SETTING, HTTP_TARGET, httpEntry } from '../config/target-entries.ts';
import type { Lowered, NodePath, Problem } from '../diagnostics/diagnostic.ts';
import { isPlainMap } from '../text/plain-data.ts';
import { isSecretName, parseSecretRef } from '../text/secret-ref.ts';
import { didYouMean, oneOf } from '../text/suggest.ts';
import { headerProblem } from './target-request.ts';

type Endpoint = Pick<VariantPlan, 'address' | 'base' | 'requests' | 'webhook'> & { readonly settings: SettingPlan[] };

/** By profile. Paths of problems are relative to the entry under `platforms`. */
export type Endpoints = ReadonlyMap<string, Lowered<Endpoint>>;

export const lowerEndpoints = (
  profiles: readonly { readonly name: string; readonly config: ProfileConfig }[],
): Endpoints =>
  new Map(
    profiles.flatMap(({ name, config }) => {
      const entry = httpEntry(config);
      return entry === undefined ? [] : [[name, lowerEndpoint(entry)]];
    }),
  );

/** The target with a variant for each profile that configures it. Problems are reported with the profile's bindings. */
export function withEndpoints(
  targets: Readonly<Record<string, TargetPlan>>,
  lowered: Endpoints,
): Readonly<Record<string, TargetPlan>> {
  const target = targets[HTTP_TARGET];
  const [like] = target?.variants ?? [];
  if (target === undefined || like === undefined) return targets;
  const endpoints = [...lowered].flatMap(([name, { plan }]) => (plan === null ? [] : [{ name, ...plan }]));
  if (endpoints.length === 0) return targets;
  const byName = <T extends { readonly name: string }>(all: readonly T[]): T[] => [
    ...new Map(all.map((one) => [one.name, one])).values(),
  ];
  // A header that is secret in one profile is secret in all.
  const headers = endpoints
    .flatMap((endpoint) => endpoint.settings)
    .sort((a, b) => Number(a.secret) - Number(b.secret));
  return {
    ...targets,
    [HTTP_TARGET]: {
      ...target,
      settings: byName([...target.settings, ...headers]),
      address: byName(endpoints.flatMap(({ address }) => address)),
      variants: endpoints.map(({ settings: _, ...endpoint }) => ({ ...like, ...endpoint })),
    },
  };
}

function lowerEndpoint(config: HttpTargetConfig): Lowered<Endpoint> {
  const problems: Problem[] = [];
  const report: ReportValue = (path, message, more) =>
    problems.push({ rule: 'invalid-value', path, at: 'value', message, ...more });
  const url = lowerUrl(config, report);
  const headers = lowerEndpointHeaders(config, report);
  const body = lowerEndpointBody(config, url?.address.map(({ name }) => name) ?? [], report);
  if (config.secret !== undefined) checkSecret(config.secret, report);
  if (url === null || problems.length > 0) return { plan: null, problems };
  const request: RequestPlan = {
    chat_id: null,
    thread: null,
    method: config.method ?? 'POST',
    path: url.path,
    query: [],
    basic: null,
    headers: [...body.headers, ...headers],
    body: body.plan,
  };
  const settings = Object.entries(config.headers ?? {}).map(([name, value]) => headerSetting(name, value));
  const base: VariantPlan['base'] = [{ kind: 'text', text: url.origin }];
  const webhook = { allow_private: config.allow_private === true };
  return { plan: { base, address: url.address, requests: [request], webhook, settings }, problems };
}

/** Checks the secret as the libraries of Standard Webhooks read it. References are checked when they are resolved. */
function checkSecret(text: string, report: ReportValue): void {
  const read = parseSecretRef(text, '');
  if (read.kind !== 'literal' || webhookKey(read.value) !== null) return;
  report(['secret'], WEBHOOK_SECRET, { sensitive: true });
}

/** Reports a problem of a value of `platforms.http`. */
type ReportValue = (path: NodePath, message: string, more?: Partial<Problem>) => void;

const valueRef = (of: ValueRef['of'], name = ''): ValueRef => ({
  kind: 'value',
  of,
  name,
  optional: false,
  secret: false,
});
const TEXT_VALUES = ['text', 'route', 'delivery_id'] as const;
const ALL_VALUES = [...TEXT_VALUES, 'key', 'time'] as const;
const isBuiltin = (name: string): name is (typeof TEXT_VALUES)[number] =>
  TEXT_VALUES.some((builtin) => builtin === name);

interface UrlPlan {
  readonly origin: string;
  /** Path and query. */
  readonly path: ValueSegment[];
  readonly address: AddressPlan[];
}

const BRACES = /\{([^{}]*)\}/g;
const FIELD = /^[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*$/;

/** Any value; control characters are rejected when it is used. */
const ANY = '(?s).+';

/** Returns null after reporting a problem. */
function lowerUrl(
  { url, allow_http = false, allow_private = false }: HttpTargetConfig,
  report: ReportValue,
): UrlPlan | null {
  const names: string[] = [];
  // A URL parser would encode braces. Stand-ins show whether each placeholder is part of the path or the query.
  const stand = url.replace(BRACES, (_, name: string) => `hw${names.push(name) - 1}wh`);
  const refuse = (message: string, more: Partial<Problem> = {}): null => {
    report(['url'], message, more);
    return null;
  };
  const within = (name: string): Partial<Problem> => ({
    within: { offset: url.indexOf(`{${name}}`), length: name.length + 2 },
  });
  const fixed = /^https?:\/\/[^/?#\\{}]+(?=[/?#\\]|$)/i.test(url);
  if (parseSecretRef(url, '').kind !== 'literal' || !fixed)
    return refuse('the host is fixed: write `https://` and its name; placeholders may follow in path and query');
  const base = parseBaseUrl(stand, { allowHttp: allow_http, secret: false });
  if (typeof base === 'string') return refuse(base, { rule: 'unsafe-url' });
  const { protocol, hostname, hash, pathname, search, origin } = new URL(stand);
  if (hash !== '' || url.includes('#')) return refuse('remove the fragment: `#` and the text after it are never sent');
  if (protocol === 'http:' && !allow_http)
    return refuse('`http://` sends texts and headers without encryption; use https://, or set allow_http: true', {
      rule: 'unsafe-url',
    });
  const literal = hostname.replace(/^\[|\]$/g, '');
  if (/^[\d.]+$|:/.test(literal) && !allow_private && !isPublicAddress(literal))
    return refuse(`${literal} is not a public address; set allow_private: true to allow it`, { rule: 'unsafe-url' });
  if (/[{}]/.test(stand)) return refuse('a single brace is not a placeholder; write `%7B` or `%7D` for a brace');
  for (const name of names) {
    if (name === 'text') return refuse('a URL may not contain the text; put `{text}` into `body`', within(name));
    if (!FIELD.test(name)) return refuse(`\`{${name}}\` is not a placeholder; write \`%7B\` for a brace`, within(name));
  }
  const path = splitStandIns(pathname + search, names);
  const fields = [...new Set(names)].filter((name) => !isBuiltin(name));
  return { origin, path, address: fields.map((name) => ({ name, required: false, pattern: ANY })) };
}

function splitStandIns(text: string, names: readonly string[]): ValueSegment[] {
  return text.split(/hw(\d+)wh/).flatMap((part, index): ValueSegment[] => {
    if (index % 2 === 0) return part === '' ? [] : [{ kind: 'text', text: part }];
    const name = names[Number(part)];
    if (name === undefined) return [{ kind: 'text', text: `hw${part}wh` }];
    return [isBuiltin(name) ? valueRef(name) : valueRef('address', name)];
  });
}

/** Converts a header of `platforms.http` to a setting of the target. */
const headerSetting = (name: string, value: string): SettingPlan => {
  const secret = isSecretName(name) || parseSecretRef(value, '').kind !== 'literal';
  return { name: HEADER_SETTING + name, aliases: [], secret, required: false, default: null, pattern: null };
};

const SIGNED = ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'idempotency-key', 'traceparent', 'tracestate'];

function lowerEndpointHeaders({ headers = {} }: HttpTargetConfig, report: ReportValue): NamedTemplate[] {
  const seen = new Set<string>();
  return Object.entries(headers).map(([written, value]) => {
    const name = written.toLowerCase();
    const why = SIGNED.includes(name) ? `\`${name}\` is set by hookwright` : headerProblem(name);
    if (why !== null) report(['headers', written], why, { at: 'key' });
    else if (seen.has(name)) report(['headers', written], `\`${name}\` is set twice`, { at: 'key' });
    else if (/\{[a-z][\w.]*\??\}/i.test(value))
      report(['headers', written], 'a header may not contain placeholders: put the value into `url` or `body`');
    seen.add(name);
    return {
      name,
      value: [{ ...valueRef('setting', HEADER_SETTING + written), secret: headerSetting(written, value).secret }],
    };
  });
}

const USUAL = { text: '{text}', route: '{route}', delivery_id: '{delivery_id}' };

const CLOUD_EVENT = {
  specversion: '1.0',
  id: '{key}',
  source: '/hookwright/{route}',
  type: 'hookwright.delivery',
  time: '{time}',
  datacontenttype: 'application/json',
  data: USUAL,
};

/** @param fields address fields in the URL; the body may also use them */
function lowerEndpointBody(
  { body = USUAL, headers = {} }: HttpTargetConfig,
  fields: readonly string[],
  report: ReportValue,
): { readonly plan: BodyPlan; readonly headers: NamedTemplate[] } {
  const texts: Texts = { report, values: [...TEXT_VALUES, ...fields] };
  if (body === 'cloudevents') {
    const type: NamedTemplate = {
      name: 'content-type',
      value: [{ kind: 'text', text: 'application/cloudevents+json' }],
    };
    const values = [...TEXT_VALUES, 'key', 'time'];
    return { plan: { kind: 'json', node: lowerJson(CLOUD_EVENT, [], { ...texts, values }) }, headers: [type] };
  }
  const read = typeof body === 'string' ? tryParseJson(body) : body;
  if (typeof read === 'object' && read !== null) {
    const path = typeof body === 'string' ? null : ['body'];
    return { plan: { kind: 'json', node: lowerJson(read, path, texts) }, headers: [] };
  }
  const text = String(body);
  const type = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  if (/json/i.test(type) || /^\s*(?:\{\s*["}]|\[)/.test(text)) {
    const hint = 'put placeholders inside the quotes of a text: `{"summary": "{text}"}`';
    report(['body'], 'the body is not JSON', { hint });
  }
  return { plan: { kind: 'plain', value: lowerTexts(text, ['body'], texts) }, headers: [] };
}

interface Texts {
  readonly report: ReportValue;
  /** Names that are allowed in braces. */
  readonly values: readonly string[];
}

/** @param path of the value; null: the JSON is a text, so its parts have no paths */
function lowerJson(value: unknown, path: NodePath | null, texts: Texts): BodyNode {
  const below = (key: string | number): NodePath | null => (path === null ? null : [...path, key]);
  if (typeof value === 'string') {
    const segments = lowerTexts(value, path ?? ['body'], texts);
    const fixed = segments.every(({ kind }) => kind === 'text');
    return fixed ? { kind: 'literal', value } : { kind: 'text', value: segments, cast: 'string' };
  }
  if (Array.isArray(value))
    return { kind: 'array', items: value.map((item: unknown, at) => lowerJson(item, below(at), texts)) };
  if (!isPlainMap(value)) return { kind: 'literal', value: value as string | number | boolean | null };
  const fields = Object.entries(value).map(([name, node]) => ({ name, node: lowerJson(node, below(name), texts) }));
  return { kind: 'object', when: null, fields };
}

function lowerTexts(text: string, path: NodePath, { values, report }: Texts): ValueSegment[] {
  return text.split(/\{([A-Za-z_][\w.-]*)\}/).flatMap((part, index): ValueSegment[] => {
    if (index % 2 === 0) return part === '' ? [] : [{ kind: 'text', text: part }];
    if (!values.includes(part)) {
      const known = `available are ${oneOf(values, 'and')}, and the placeholders of \`url\``;
      report(path, `\`{${part}}\` is unknown: ${known}${didYouMean(part, values)}`);
    }
    const of = ALL_VALUES.find((value) => value === part);
    return [of === undefined ? valueRef('address', part) : valueRef(of)];
  });
}
