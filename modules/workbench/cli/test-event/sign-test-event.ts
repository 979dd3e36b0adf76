/** Makes the event that `webhook test` sends, with the payload formatted and signed as by the route's sender. */
import { labelOf } from '../../../../base/label.ts';
import { routePath } from '../../../../cli/subscriptions/routes.ts';
import { entryMatcher, sentFor } from '../../../../compiler/config/event-names.ts';
import { linkGlob } from '../../../../compiler/globs/linear-glob.ts';
import { isPlainMap } from '../../../../compiler/text/plain-map.ts';
import { UNKNOWN_EVENT } from '../../../../runtime/intake/stages/identify.ts';
import type { SecretResolver } from '../../../../runtime/platform/secrets/secrets.ts';
import { namesPlaces, signedPlaces } from '../../../../runtime/table/link-identity.ts';
import { SignError } from '../../../../runtime/verify/sign-body.ts';
import type {
  LocatorPlan,
  RoutePlan,
  RouteTable,
  SchemePlan,
  SecretRef,
  SourceFacts,
} from '../../../../schemas/generated/types.ts';
import { signRequest } from '../../runtime/sign.ts';

export interface TestEventRequest {
  readonly plan: RoutePlan;
  readonly table: RouteTable;
  /** Undefined: the first one that the route accepts by name. */
  readonly event: string | undefined;
  /** Null: a small generated payload. */
  readonly body: Buffer | null;
  /** Undefined: the route's own sender. */
  readonly source: string | undefined;
  /** In place of the route's secret. */
  readonly key: SecretRef | null;
  /** The payload where `body` is null. @param scheme canonical name; null: the event is not signed */
  readonly sample: (scheme: string | null, event: string | null) => Readonly<Record<string, unknown>>;
  readonly secrets: SecretResolver;
  /** Unix ms. */
  readonly now: number;
  readonly random: (bytes: number) => Buffer;
}

export interface TestEvent {
  readonly scheme: string;
  readonly event: string | null;
  /** To be added to the URL; with its question mark, or empty. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Reads the event type from a header, regardless of the payload. */
const PREFERRED = 'forgea';

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
  const signed = signRequest(sendersPlaces(withPlaces(scheme, table)), secretOf(request), unsignedRequest, now);
  return {
    scheme: labelOf(scheme),
    event,
    query: signed.url.slice(path.length),
    headers: { 'content-type': contentType(scheme, isForm), ...signed.headers },
    body: signed.body,
  };
}

/** The first entry of `events`; null where an event without a type is accepted too. */
function acceptedEntry({ events }: RoutePlan): string | null {
  if (events === null) return null;
  const [exact] = events.exact;
  if (exact !== undefined) return exact;
  return events.globs.some(({ source }) => linkGlob(source)(UNKNOWN_EVENT)) ? null : (events.globs[0]?.text ?? null);
}

/** As the sender names it, if it documents one; else any name that the entry takes. @throws SignError if there is none */
function eventName(entry: string, facts: SourceFacts | undefined): string {
  const documented = sentFor(entry, facts);
  if (documented !== null) return documented;
  const plain = entry
    .replace(/\{([^,{}]*)[^{}]*\}/g, '$1')
    .replace(/\[([^\]])[^\]]*\]/g, '$1')
    .replaceAll('?', 'a');
  const passes = entryMatcher(entry);
  const name = ['', 'test'].map((text) => plain.replace(/\*+/g, text)).find((each) => passes?.(each) === true);
  if (name === undefined || name === '')
    throw new SignError(`no event is known that \`${entry}\` takes: name one with --event`);
  return name;
}

const sampleOf = ({ sample }: TestEventRequest, scheme: SchemePlan | null, event: string | null): Buffer =>
  Buffer.from(sampleBody(sample(scheme?.name ?? null, event), scheme, event));

/** `From=%2B15550100&Body=hi`: a name, as §3 of the decisions has them, and a value. */
export const looksLikeForm = (body: string): boolean => /^[A-Za-z_][A-Za-z0-9_.[\]-]*=[^\n]*\s*$/.test(body);

/**
 * The scheme of a sender that documents the event, where nothing else says which sender is meant; and for such a body, of a
 * sender that signs forms in one way and JSON in another.
 */
function schemeOf(plan: RoutePlan, table: RouteTable, entry: string | null, isForm: boolean): SchemePlan {
  const unverified = plan.source === null ? table.default_schemes : [plan.source];
  const accepted = (plan.insecure ? unverified : plan.schemes).flatMap((name) => table.schemes[name] ?? []);
  const documenting =
    plan.source !== null || entry === null
      ? []
      : accepted.filter(({ name }) => sentFor(entry, table.source_facts[name]) !== null);
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
  if (scheme === undefined) throw new SignError(`there is no source "${source}"`);
  return scheme;
}

/** A scheme that names no places takes event and id where the specification has them. */
function withPlaces(scheme: SchemePlan, table: RouteTable): SchemePlan {
  return namesPlaces(scheme) ? scheme : { ...scheme, ...signedPlaces(table) };
}

/** A sender known by another name than the scheme's own sends its own headers, not those of the specification. */
function sendersPlaces(scheme: SchemePlan): SchemePlan {
  if (labelOf(scheme) === scheme.name) return scheme;
  const isNeutral = (at: LocatorPlan): boolean => at.name.toLowerCase().startsWith(`x-${scheme.name}-`);
  const sorted = (places: readonly LocatorPlan[]): LocatorPlan[] => [
    ...places.filter((at) => !isNeutral(at)),
    ...places.filter(isNeutral),
  ];
  const { signature, event, delivery } = scheme;
  return { ...scheme, signature: sorted(signature), event: sorted(event), delivery: sorted(delivery) };
}

/** The first secret that is still accepted. */
function secretOf({ plan, key, secrets, now }: TestEventRequest): string {
  if (key !== null) return secrets.resolve(key);
  const valid = plan.secrets.find(({ expires_at }) => expires_at === null || expires_at > now);
  if (valid === undefined) throw new SignError('all of its secrets have expired');
  return secrets.resolve(valid.ref);
}

function unsigned(
  table: RouteTable,
  scheme: SchemePlan,
  { event, id, body }: { event: string | null; id: string; body: Buffer },
): TestEvent {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  const places = sendersPlaces(withPlaces(scheme, table));
  const at = places.event.find((place) => place.in === 'header');
  const delivery = places.delivery.find((place) => place.in === 'header');
  if (at !== undefined && event !== null) headers[at.name] = event;
  if (delivery !== undefined) headers[delivery.name] = id;
  return { scheme: 'unsigned', event, query: '', headers, body };
}

type Sample = Readonly<Record<string, unknown>>;

/** Senders such as Twilio sign the fields of a form. */
const signsForms = ({ signed, body }: SchemePlan): boolean =>
  body === 'form' || signed.some(({ kind }) => kind === 'params');

/** @param scheme null: the event is not signed */
function sampleBody(sample: Sample, scheme: SchemePlan | null, event: string | null): string {
  if (scheme !== null && signsForms(scheme)) {
    const fields = Object.entries({ Test: 'true', ...sample }).map(([key, value]): [string, string] => [
      key,
      String(value),
    ]);
    return String(new URLSearchParams(fields));
  }
  if (scheme?.body === 'text') return typeof sample.text === 'string' ? sample.text : 'a test event';
  if (scheme?.body === 'xml') return printDocument(sample);
  return JSON.stringify({ ...(event === null ? {} : { event_type: event }), test: true, ...sample });
}

const TYPES: Readonly<Record<NonNullable<SchemePlan['body']>, string>> = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  text: 'text/plain',
  xml: 'application/xml',
};

const contentType = ({ body = 'json' }: SchemePlan, isForm: boolean): string => TYPES[isForm ? 'form' : body];

/** A document has a single root: the first element that the route reads. */
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
