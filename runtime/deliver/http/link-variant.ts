/** Links one binding of a declarative target: chooses the variant, checks the base URL, compiles patterns and conditions. */
import { createHash, createHmac } from 'node:crypto';
import { RE2JS } from 're2js';
import type { BaseUrl } from '../../../base/net.ts';
import { parseBaseUrl } from '../../../base/net.ts';
import { WEBHOOK_SECRET, webhookKey } from '../../../base/secret-forms.ts';
import type {
  RequestPlan,
  RouteTable,
  ShownPlace,
  SignaturePlan,
  ValueTemplate,
  VariantPlan,
} from '../../../schemas/generated/types.ts';
import type { FindDestination } from '../../table/held-place.ts';
import type { Address, ResolveAddress } from '../address.ts';
import { linkAddress } from '../address.ts';
import type { BoundTarget } from '../deliverer.ts';
import type { ClassifyResponse } from './classify-response.ts';
import { linkClassifier } from './classify-response.ts';
import type { LinkTokens, TokenSource } from './exchange-token.ts';
import { linkExchange } from './exchange-token.ts';
import type { HttpRequest, RequestScope } from './link-request.ts';
import { linkRequest } from './link-request.ts';
import type { Values } from './values.ts';
import { fillWith, linkFill, NO_VALUES } from './values.ts';

export interface LinkedVariant {
  readonly plan: VariantPlan;
  readonly base: BaseUrl;
  readonly resolveAddress: ResolveAddress;
  readonly pickRequest: PickRequest;
  /** Adds the headers of a custom webhook; null: any other service. */
  readonly webhook: WebhookHeaders | null;
  readonly classify: ClassifyResponse;
  /** Selects the request that replaces a post; null: the target has none. */
  readonly pickUpdate: PickRequest | null;
  readonly exchange: TokenSource | null;
  /** Builds the request that checks the credentials; null: the service has none. @param now Unix ms */
  readonly buildCheck: ((now: number) => HttpRequest) | null;
  readonly sign: Sign;
  /** Empty unless `base` is the public service, because its limits do not apply elsewhere. */
  readonly pacing: VariantPlan['pacing'];
}

/** One form of the request. */
export interface LinkedRequest {
  readonly plan: RequestPlan;
  readonly build: (values: Values) => HttpRequest;
  /** Whether the request contains the idempotency key. */
  readonly usesKey: boolean;
  /** Default: that of requests that post. */
  readonly classify?: ClassifyResponse;
  readonly maxBytes?: number;
}

/** Selects the request that matches an address, with the groups of its chat_id pattern; null if none matches. */
export type PickRequest = (
  address: Address,
) => { readonly request: LinkedRequest; readonly match: ReadonlyMap<string, string> } | null;

/** Returns the linked variant, or an error that says what is wrong with the binding. */
export function linkVariant(target: BoundTarget, linkTokens: LinkTokens = linkExchange): LinkedVariant | string {
  const { settings } = target;
  const plan = pickVariant(target);
  if (typeof plan === 'string') return plan;
  const base = linkBase(plan.base, target);
  if (typeof base === 'string') return base;
  const exchangeBase = plan.exchange === null ? base : linkBase(plan.exchange.base ?? plan.base, target);
  if (typeof exchangeBase === 'string') return exchangeBase;
  const exchange =
    plan.exchange === null ? null : linkTokens({ variant: plan, plan: plan.exchange, base: exchangeBase, settings });
  if (typeof exchange === 'string') return exchange;
  const webhook = plan.webhook === undefined ? null : linkWebhook(settings);
  if (typeof webhook === 'string') return webhook;
  const scope = { base, settings };
  const { update } = plan;
  return {
    plan,
    base,
    resolveAddress: linkAddress(plan.address, target.homeChannel),
    pickRequest: linkPickRequest(plan, plan.requests, scope, webhook === null ? undefined : toSign(webhook)),
    webhook,
    pickUpdate: update === undefined ? null : linkPickRequest(plan, update, scope),
    classify: linkClassifier(plan),
    exchange,
    buildCheck: linkCheck(plan, exchange, scope),
    sign:
      webhook === null ? linkSign(plan.signature, settings) : (now) => ({ ...UNSIGNED, timestamp: unixSeconds(now) }),
    pacing: target.apiBase === null && plan.base !== null ? plan.pacing : [],
  };
}

function linkCheck(
  { check }: VariantPlan,
  tokens: TokenSource | null,
  scope: RequestScope,
): LinkedVariant['buildCheck'] {
  if (check === undefined) return null;
  const build = linkRequest(check, scope);
  return (now) => build({ ...NO_VALUES, ...tokens?.checkValues(now) });
}

/**
 * The variant named in the config, otherwise the first whose settings are all set. Returns a string that says what is missing.
 */
function pickVariant({ plan, binding, settings }: BoundTarget): VariantPlan | string {
  if (binding.variant !== null) {
    const named = plan.variants.find((variant) => variant.name === binding.variant);
    if (named === undefined) return `unknown variant ${JSON.stringify(binding.variant)}`;
    const missing = named.needs.filter((name) => !settings.has(name));
    return missing.length === 0 ? named : `${missing.join(', ')} must be set`;
  }
  const usable = plan.variants.find((variant) => variant.needs.every((name) => settings.has(name)));
  if (usable !== undefined) return usable;
  return `no variant can be used: set ${plan.variants.map((variant) => variant.needs.join(' and ')).join(', or ')}`;
}

/**
 * `api_base` of the config replaces the base URL of the target and of its token server. In a URL from a setting, such as
 * `webhook_url`, it replaces only the origin, because the path identifies the destination.
 */
function linkBase(template: ValueTemplate | null, { apiBase, binding, settings }: BoundTarget): BaseUrl | string {
  const own = template === null ? null : fillWith(linkFill(template, { settings }), NO_VALUES);
  const isGiven = template?.[0]?.kind === 'value';
  const text = apiBase === null ? own : isGiven && own !== null ? atOrigin(apiBase, own) : apiBase;
  if (text === null) return 'api_base must be set';
  // A base URL given as a reference is treated as a secret.
  const holdsSecret = (template ?? []).some((part) => part.kind === 'value' && part.secret);
  const secret = apiBase === null || isGiven ? holdsSecret : binding.api_base === null;
  return parseBaseUrl(text, { allowHttp: binding.allow_http, secret });
}

function atOrigin(apiBase: string, address: string): string {
  if (!URL.canParse(address)) return address;
  const { pathname, search } = new URL(address);
  return `${apiBase.replace(/\/+$/, '')}${pathname}${search}`;
}

function linkForm(plan: RequestPlan, scope: RequestScope): LinkedRequest {
  const usesKey = /"of":"(?:key|marks)"/.test(JSON.stringify(plan));
  return { plan, build: linkRequest(plan, scope), usesKey };
}

/** Adds the headers of a webhook, which cover the body. */
const toSign =
  (webhook: WebhookHeaders) =>
  (request: LinkedRequest): LinkedRequest => ({
    ...request,
    usesKey: true,
    build(values) {
      const built = request.build(values);
      return { ...built, headers: { ...built.headers, ...webhook(built.body, values) } };
    },
  });

/** @param finish converts each form */
export function linkPickRequest(
  { address: fields }: VariantPlan,
  requests: readonly RequestPlan[],
  scope: RequestScope,
  finish: (request: LinkedRequest) => LinkedRequest = (request) => request,
): PickRequest {
  const forms = requests.map((plan) => {
    const { thread, given, chat_id } = plan;
    return { request: finish(linkForm(plan, scope)), thread, given, match: linkMatch(chat_id) };
  });
  const parts = fields.flatMap(({ name, pattern }) =>
    pattern?.includes('(?P<') === true ? [{ name, match: linkMatch(pattern) }] : [],
  );
  return (address) => {
    const inThread = address.has('thread');
    for (const { request, thread, given, match } of forms) {
      if (thread !== null && thread !== inThread) continue;
      if (given !== undefined && !address.has(given)) continue;
      const groups = match(address.get('chat_id') ?? '');
      if (groups === null) continue;
      if (parts.length === 0) return { request, match: groups };
      const ofParts = parts.flatMap(({ name, match }) => [...(match(address.get(name) ?? '') ?? [])]);
      return { request, match: new Map([...ofParts, ...groups]) };
    }
    return null;
  };
}

const NO_GROUPS: ReadonlyMap<string, string> = new Map();

function linkMatch(source: string | null): (chatId: string) => ReadonlyMap<string, string> | null {
  if (source === null) return () => NO_GROUPS;
  const pattern = RE2JS.compile(source);
  const names = Object.keys(pattern.namedGroups());
  return (chatId) => {
    const matcher = pattern.matcher(chatId);
    if (!matcher.matches()) return null;
    return new Map(names.map((name) => [name, matcher.group(name) ?? '']));
  };
}

interface Signed {
  readonly timestamp: string;
  readonly signature: string;
}

const unixSeconds = (now: number): string => String(Math.floor(now / 1000));

const UNSIGNED: Signed = { timestamp: '', signature: '' };

/** Both are empty if the plan's optional secret is not set. @param now Unix ms */
type Sign = (now: number) => Signed;

/** Links a signature plan; null signs nothing. */
function linkSign(plan: SignaturePlan | null, settings: ReadonlyMap<string, string>): Sign {
  if (plan === null) return () => UNSIGNED;
  const key = linkFill(plan.key, { settings });
  const message = linkFill(plan.message, { settings });
  return (now) => {
    const timestamp = String(Math.floor(now / plan.unit_ms));
    const values = { ...NO_VALUES, timestamp };
    const [keyText, messageText] = [fillWith(key, values), fillWith(message, values)];
    if (keyText === null || messageText === null) return UNSIGNED;
    return { timestamp, signature: createHmac(plan.hash, keyText).update(messageText, 'utf8').digest(plan.encoding) };
  };
}

/** Returns the additional headers of a request. */
type WebhookHeaders = (body: string | null, values: Values) => Readonly<Record<string, string>>;

/** Returns the headers, or an error about the secret. Without a secret, nothing is signed. */
export function linkWebhook(settings: ReadonlyMap<string, string>): WebhookHeaders | string {
  const secret = settings.get('secret');
  const key = secret === undefined ? undefined : webhookKey(secret);
  if (key === null) return WEBHOOK_SECRET;
  return (body, { key: id, timestamp, trace }) => {
    const signed = key && createHmac('sha256', key).update(`${id}.${timestamp}.${body ?? ''}`, 'utf8');
    return {
      'webhook-id': id,
      'idempotency-key': id,
      'webhook-timestamp': timestamp,
      ...(signed ? { 'webhook-signature': `v1,${signed.digest('base64')}` } : {}),
      ...trace,
    };
  };
}

/**
 * A custom service is shown with its path, and bound to its whole URL, method and body. Any other is shown as its server if the
 * configuration names it: a URL in a setting may contain a key.
 */
export function shownDestination(
  { apiBase, binding }: Pick<BoundTarget, 'apiBase' | 'binding'>,
  { plan, base }: Pick<LinkedVariant, 'plan' | 'base'>,
): ShownPlace {
  const { origin, path, query } = base;
  if (plan.webhook === undefined) {
    const isNamed = apiBase !== null || plan.base?.some(({ kind }) => kind === 'value') === true;
    return { ...(isNamed ? { url: origin } : {}), digest: digestOf([origin, path, query]) };
  }
  const sent = plan.requests.map(({ method, path: rest, body }) => ({ method, rest, body }));
  const rest = plan.requests.flatMap((request) => request.path);
  const url = rest.map((part) => (part.kind === 'text' ? part.text : `{${part.name || part.of}}`)).join('');
  const { credentials, options } = binding;
  // Headers are settings. Secrets count by their references, and those in the table not at all.
  const references = Object.entries(credentials).filter(([, { kind }]) => kind !== 'literal');
  const named = [...references, ...Object.entries(options)].sort();
  const headers = digestOf([plan.requests.map((request) => request.headers), named]);
  // A query may contain a key.
  return { headers, url: `${origin}${path}${url.replace(/\?.*/s, '')}`, digest: digestOf([origin, path, query, sent]) };
}

const digestOf = (of: unknown): string => createHash('sha256').update(JSON.stringify(of)).digest('hex').slice(0, 16);

/** The destination as far as the table shows it without secrets: the URL of `http`, and home channels in the table. */
export const destinationInTable =
  ({ targets, profiles }: Pick<RouteTable, 'targets' | 'profiles'>): FindDestination =>
  (profile, target) => {
    const binding = profiles[profile]?.targets[target];
    if (binding === undefined) return null;
    const plan = targets[target]?.variants.find(
      ({ name, webhook }) => webhook !== undefined && name === binding.variant,
    );
    const [part] = plan?.base ?? [];
    const base = part?.kind === 'text' ? parseBaseUrl(part.text, { allowHttp: true, secret: false }) : '';
    const place =
      plan === undefined || typeof base === 'string'
        ? null
        : shownDestination({ apiBase: null, binding }, { plan, base });
    return { place, home: binding.home_channel || null };
  };

/** @param root DeliveryRequest.key @param piece index of the piece */
export function idempotencyKey(plan: VariantPlan['key'], root: string, piece: number): string {
  const hex = createHash('sha256').update(`${root}\n${piece}`, 'utf8').digest('hex');
  return plan.form === 'uuid' ? toUuid(hex) : hex.slice(0, plan.max_length);
}

/** A UUID of version 8 (RFC 9562), whose bits are custom. */
function toUuid(hex: string): string {
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
