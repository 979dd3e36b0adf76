/**
 * Creates the event that `webhook test` sends, signed as by the route's sender, and finds the messages that it would send
 * to other machines.
 */

import { isLoopback } from '../../../../base/net.ts';
import { schemeLabel, targetLabel } from '../../../../base/text.ts';
import type { CliContext } from '../../../../cli/base/context.ts';
import type { ServedGateway } from '../../../../cli/base/module.ts';
import { loadPart } from '../../../../cli/base/module.ts';
import { refusing } from '../../../../cli/serve/reloader.ts';
import { routePath } from '../../../../cli/subscriptions/routes.ts';
import { entryMatcher, matchingEvent } from '../../../../compiler/config/route-keys.ts';
import { linkGlob } from '../../../../compiler/globs/linear-glob.ts';
import { isPlainMap } from '../../../../compiler/text/plain-data.ts';
import { ControlError } from '../../../../runtime/control/control-error.ts';
import { UNKNOWN_EVENT } from '../../../../runtime/intake/stages/decide.ts';
import type { SecretResolver } from '../../../../runtime/platform/secrets.ts';
import { createSecrets } from '../../../../runtime/platform/secrets.ts';
import type { OperatedService } from '../../../../runtime/service/options.ts';
import { namesLocations, signedLocations } from '../../../../runtime/table/link-identity.ts';
import type { RouteTestReport, RouteTestRequest } from '../../../../schemas/built/operations/types.ts';
import type { RoutePlan, RouteTable, SchemePlan, SecretRef, SourceFacts } from '../../../../schemas/generated/types.ts';
import type { Explained } from '../explain/explain-route.ts';
import { explainSent } from '../explain/explain-route.ts';
import { addressText } from '../explain/format-explanation.ts';
import { requestTo } from '../explain/read-request.ts';
import { SignError } from './sign-body.ts';
import { signRequest } from './sign-request.ts';

/** Describes the event that `webhook test` sends. */
export interface TestEventRequest {
  readonly plan: RoutePlan;
  readonly table: RouteTable;
  /** Undefined: the first event that the route accepts by name. */
  readonly event: string | undefined;
  /** Null: a generated payload. */
  readonly body: Buffer | null;
  /** Undefined: the route's sender. */
  readonly source: string | undefined;
  /** Used instead of the route's secret. */
  readonly key: SecretRef | null;
  /** Generates the payload if `body` is null. @param scheme canonical name; null: the event is not signed */
  readonly sample: (scheme: string | null, event: string | null) => Readonly<Record<string, unknown>>;
  readonly secrets: SecretResolver;
  /** Unix ms. */
  readonly now: number;
  readonly random: (bytes: number) => Buffer;
}

export interface TestEvent {
  readonly scheme: string;
  readonly event: string | null;
  /** Appended to the URL: with its question mark, or empty. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** A scheme that reads the event type from a header, regardless of the payload. */
const PREFERRED = 'github';

/** @throws SecretError when the secret cannot be resolved; SignError when it cannot sign. */
export function signTestEvent(request: TestEventRequest): TestEvent {
  const { plan, table, now, random } = request;
  const entry = request.event ?? acceptedEntry(plan);
  const id = `test-${now}-${random(4).toString('hex')}`;
  const isWrittenAsForm = request.body !== null && looksLikeForm(request.body.toString('utf8'));
  const scheme =
    request.source === undefined ? schemeOf(plan, table, entry, isWrittenAsForm) : namedScheme(request.source, table);
  const event = entry === null ? null : eventName(entry, table.source_facts[scheme.name]);
  if (plan.insecure && request.source === undefined)
    return unsigned(table, scheme, { event, id, body: request.body ?? sampleOf(request, null, event) });
  const isForm = isWrittenAsForm || (request.body === null && signsForms(scheme));
  const body = request.body ?? sampleOf(request, scheme, event);
  const path = routePath(plan);
  const unsignedRequest = { method: 'POST', url: path, public_url: plan.public_url, body, id, event };
  const signed = signRequest(withPlaces(scheme, table), secretOf(request), unsignedRequest, now);
  return {
    scheme: request.source ?? schemeLabel(plan, scheme.name),
    event,
    query: signed.url.slice(path.length),
    headers: { 'content-type': contentType(scheme, isForm), ...signed.headers },
    body: signed.body,
  };
}

/** The first entry of `events`; null if the route also accepts events without a type. */
function acceptedEntry({ events }: RoutePlan): string | null {
  if (events === null) return null;
  const [exact] = events.exact;
  if (exact !== undefined) return exact;
  return events.globs.some(({ source }) => linkGlob(source)(UNKNOWN_EVENT)) ? null : (events.globs[0]?.text ?? null);
}

/** The sender's name for the event if it documents one; else any name that the entry accepts. @throws SignError if there is none */
function eventName(entry: string, facts: SourceFacts | undefined): string {
  const documented = matchingEvent(entry, facts);
  if (documented !== null) return documented;
  const plain = entry
    .replace(/\{([^,{}]*)[^{}]*\}/g, '$1')
    .replace(/\[([^\]])[^\]]*\]/g, '$1')
    .replaceAll('?', 'a');
  const passes = entryMatcher(entry);
  const name = ['', 'test'].map((text) => plain.replace(/\*+/g, text)).find((each) => passes?.(each) === true);
  if (name === undefined || name === '')
    throw new SignError(`cannot choose an event that \`${entry}\` accepts: name one with --event`);
  return name;
}

const sampleOf = ({ sample }: TestEventRequest, scheme: SchemePlan | null, event: string | null): Buffer =>
  Buffer.from(sampleBody(sample(scheme?.name ?? null, event), scheme, event));

/** A form such as `From=%2B15550100&Body=hi`: a name (decisions §3) and a value. */
export const looksLikeForm = (body: string): boolean => /^[A-Za-z_][A-Za-z0-9_.[\]-]*=[^\n]*\s*$/.test(body);

/**
 * Returns the scheme of the sender that documents the event, if nothing else identifies the sender; for a form, of a sender
 * that signs forms in one way and JSON in another.
 */
function schemeOf(plan: RoutePlan, table: RouteTable, entry: string | null, isForm: boolean): SchemePlan {
  const unverified = plan.source === null ? table.default_schemes : [plan.source];
  const accepted = (plan.insecure ? unverified : plan.schemes).flatMap((name) => table.schemes[name] ?? []);
  const documenting =
    plan.source !== null || entry === null
      ? []
      : accepted.filter(({ name }) => matchingEvent(entry, table.source_facts[name]) !== null);
  const schemes = documenting.length > 0 ? documenting : accepted;
  const forForms = isForm ? schemes.find(signsForms) : undefined;
  if (forForms !== undefined) return forForms;
  const preferred = plan.source === null ? schemes.find(({ name }) => name === PREFERRED) : undefined;
  const scheme = preferred ?? schemes.find(({ deprecated }) => deprecated === null) ?? schemes[0];
  if (scheme === undefined) throw new SignError('the route accepts no signature scheme');
  return scheme;
}

function namedScheme(source: string, { sources, schemes }: RouteTable): SchemePlan {
  const name = Object.hasOwn(sources, source) ? sources[source]?.scheme : undefined;
  const scheme = name === undefined ? undefined : schemes[name];
  if (scheme === undefined) throw new SignError(`unknown source "${source}"`);
  return scheme;
}

/** A scheme without places reads event and id from the places of the specification. */
function withPlaces(scheme: SchemePlan, table: RouteTable): SchemePlan {
  return namesLocations(scheme) ? scheme : { ...scheme, ...signedLocations(table) };
}

/** The first secret that is still accepted. */
function secretOf({ plan, key, secrets, now }: TestEventRequest): string {
  if (key !== null) return secrets.resolve(key);
  const valid = plan.secrets.find(({ expires_at }) => expires_at === null || expires_at > now);
  if (valid === undefined) throw new SignError('all secrets of the route have expired');
  return secrets.resolve(valid.ref);
}

function unsigned(
  table: RouteTable,
  scheme: SchemePlan,
  { event, id, body }: { event: string | null; id: string; body: Buffer },
): TestEvent {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  const places = withPlaces(scheme, table);
  const at = places.event.find((place) => place.in === 'header');
  const delivery = places.delivery.find((place) => place.in === 'header');
  if (at !== undefined && event !== null) headers[at.name] = event;
  if (delivery !== undefined) headers[delivery.name] = id;
  return { scheme: 'unsigned', event, query: '', headers, body };
}

type Sample = Readonly<Record<string, unknown>>;

/** Whether the sender signs the fields of a form, as Twilio does. */
const signsForms = ({ signed, body }: SchemePlan): boolean =>
  body === 'form' || signed.some(({ kind }) => kind === 'params');

/** @param scheme null: the event is not signed */
function sampleBody(sample: Sample, scheme: SchemePlan | null, event: string | null): string {
  if (scheme !== null && signsForms(scheme)) {
    const fields = Object.entries({ Test: 'true', ...sample }).map(([key, value]) => [key, String(value)]);
    return String(new URLSearchParams(Object.fromEntries(fields)));
  }
  if (scheme?.body === 'text') return typeof sample.text === 'string' ? sample.text : 'a test event';
  if (scheme?.body === 'xml') return printDocument(sample);
  const one = { ...(event === null ? {} : { event_type: event }), test: true, ...sample };
  return JSON.stringify(scheme?.each === undefined ? one : batchOf(scheme.each, one));
}

/** A batch of one item. `batch` and `parent` of the item are values of what surrounds it. */
function batchOf(lists: NonNullable<SchemePlan['each']>, { batch, parent, ...item }: Sample): unknown {
  return lists.reduceRight<unknown>((value, list, depth) => {
    const around = depth === 0 ? batch : depth === lists.length - 1 ? parent : {};
    const nested = list.reduceRight<unknown>((inner, key) => ({ [key]: inner }), [value]);
    return isPlainMap(nested) && isPlainMap(around) ? { ...around, ...nested } : nested;
  }, item);
}

const TYPES: Readonly<Record<NonNullable<SchemePlan['body']>, string>> = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  text: 'text/plain',
  xml: 'application/xml',
};

const contentType = ({ body = 'json' }: SchemePlan, isForm: boolean): string => TYPES[isForm ? 'form' : body];

/** An XML document has a single root: the first element that the route reads. */
function printDocument(sample: Sample): string {
  const [root] = Object.entries(sample);
  return printElement(...(root ?? ['event', { test: true }]));
}

/** The inverse of `parseXml`: a list is a repeated element, and `text` is the text beside other elements. */
function printElement(name: string, value: unknown): string {
  if (Array.isArray(value)) return value.map((each) => printElement(name, each)).join('');
  const inner = isPlainMap(value)
    ? Object.entries(value)
        .map(([key, each]) => (key === 'text' ? escapeText(String(each)) : printElement(key, each)))
        .join('')
    : escapeText(String(value));
  return `<${name}>${inner}</${name}>`;
}

const escapeText = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/**
 * Returns a line for each message: its target, and the address from the payload. Empty if the event is not accepted, or if all
 * deliveries stay on this machine: the targets `log` and `local`, and services on a loopback address.
 * @param explained what a gateway would do with the event
 */
export function leavingMessages(
  { profile, cron_job }: RoutePlan,
  table: RouteTable,
  { messages }: Pick<Explained, 'messages'>,
): readonly string[] {
  if (messages === null) return [];
  const job = cron_job !== null && Object.hasOwn(table.jobs, cron_job) ? table.jobs[cron_job] : undefined;
  const { deliver = [], outputs = [], on_failure = [] } = job ?? {};
  const ofJob = [...deliver, ...outputs.map(({ delivery }) => delivery), ...on_failure].map((delivery) => ({
    target: targetLabel(delivery),
    address: {},
  }));
  const leaving = [...messages, ...ofJob].filter(({ target }) =>
    leaves(table, profile, table.target_names[target] ?? target),
  );
  const named = leaving.map(({ target, address }) => `${target} ${addressText(address)}`.trim());
  return [...new Set(named)];
}

function leaves({ targets, profiles }: RouteTable, profile: string, target: string): boolean {
  const plan = Object.hasOwn(targets, target) ? targets[target] : undefined;
  if (plan === undefined || plan.driver === 'log' || plan.driver === 'local') return false;
  const base = profiles[profile]?.targets[target]?.api_base ?? null;
  return base === null || !URL.canParse(base) || !isLoopback(new URL(base).hostname.replace(/^\[(.*)\]$/, '$1'));
}

/** @throws ControlError if the gateway serves no such route */
export function routeNamed({ table, subscriptions }: OperatedService, name: string, profile?: string): RoutePlan {
  const isMeant = (plan: RoutePlan): boolean => plan.name === name && plan.profile === (profile ?? plan.profile);
  const found = Object.values(table.routes).find(isMeant) ?? subscriptions.routes.find(isMeant);
  if (found === undefined)
    throw new ControlError('not_found', `unknown route "${name}": this gateway does not serve it`);
  return found;
}

/** Sends the event through the stages of the public server, as from this machine. */
export const testRoute = (
  { context, service }: ServedGateway<CliContext>,
  asked: RouteTestRequest,
): Promise<RouteTestReport> =>
  refusing(async () => {
    const { route, event, payload, confirmed = false, by } = asked;
    const plan = routeNamed(service, route);
    const { table } = service;
    const payloads = await loadPart(context.modules, 'payloads');
    const now = context.clock.now();
    const signed = signTestEvent({
      plan,
      table,
      event,
      source: undefined,
      key: null,
      now,
      random: context.random,
      body: payload === undefined ? null : Buffer.from(payload, 'utf8'),
      sample: (scheme, named) => payloads.sample(plan, named, scheme, now),
      secrets: createSecrets(context),
    });
    const path = routePath(plan) + signed.query;
    if (payload === undefined && !confirmed) {
      const request = requestTo(path, Object.entries(signed.headers), signed.body);
      const explained = await explainSent(context, { plan, table, request, event: signed.event });
      const messages = leavingMessages(plan, table, explained);
      if (messages.length > 0)
        throw new ControlError('would_leave', `a made-up event would send a message to ${messages.join(', and to ')}`);
    }
    const body = new Uint8Array(signed.body);
    const request = new Request(`http://localhost${path}`, { method: 'POST', headers: signed.headers, body });
    const answer = await service.handle(request, { address: '127.0.0.1', by });
    const text = await answer.text();
    return { status: answer.status, answer: text, event: signed.event, payload: signed.body.toString('utf8') };
  });
