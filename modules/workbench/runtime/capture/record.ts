/**
 * Creates the record of an answered request, without credentials. The sources define which headers, query parameters and
 * fields contain credentials: all places from which any scheme reads a signature, a token or a secret, because a token may be sent to
 * the wrong route. Other credentials are recognised by their names.
 */

import { schemeLabel } from '../../../../base/text.ts';
import { decodedLayers } from '../../../../runtime/deliver/redact.ts';
import type { BatchEvent, Intake, StageName } from '../../../../runtime/intake/intake.ts';
import { STAGE_NAMES } from '../../../../runtime/intake/intake.ts';
import type { KeptHead } from '../../../../runtime/intake/keeper.ts';
import type { BodyFormat } from '../../../../runtime/intake/parse-body.ts';
import { reasonOf } from '../../../../runtime/intake/reason.ts';
import type { Outcome, Reply } from '../../../../runtime/intake/reply.ts';
import { ACCEPTED_OUTCOMES, UNKNOWN_ROUTE } from '../../../../runtime/intake/reply.ts';
import type { IntakeRequest } from '../../../../runtime/intake/unverified-bodies.ts';
import type { RefusedRequest } from '../../../../runtime/verify/likely-sources.ts';
import type { VerifyReason } from '../../../../runtime/verify/verification.ts';
import type { KeptEvent, LocatorPlan, RoutePlan, SchemePlan } from '../../../../schemas/generated/types.ts';
import { marker } from '../removed.ts';
import {
  ABOUT_KEYS,
  HARMLESS_KEYS,
  SECRET_CODES,
  SECRET_HEADERS,
  SECRET_PARAMETERS,
  SECRET_WORDS,
  SIGNING,
} from './built/credential-names.ts';

/** A request in the form in which it is sent to the thread that stores it. */
export interface UnfinishedRecord {
  /** The number in the id. */
  readonly number: number;
  /** The head without the digest of the body and the cause, which the thread adds. */
  readonly head: KeptHead;
  /** The body as received; null if it was not read. */
  readonly body: Uint8Array | null;
  readonly credentials: BodyCredentials;
  /** Input of the search for the cause of an invalid signature; null for any other request. */
  readonly refused: RefusedRequest | null;
}

/** The places of credentials in a body. */
export interface BodyCredentials {
  readonly places: readonly LocatorPlan[];
  /** The body format of the route's source; null: the content type decides. */
  readonly format: BodyFormat | null;
}

interface RecordContext {
  readonly places: CredentialPlaces;
  /** By name. */
  readonly schemes: Readonly<Record<string, SchemePlan>>;
  /** Monotonic ms. */
  readonly now: number;
  /** Id of the captured request that this one replays. */
  readonly replayOf: string | null;
}

/** @param number the number in the id of the captured request */
export function makeRecord(number: number, intake: Intake, reply: Reply, context: RecordContext): UnfinishedRecord {
  const { 'content-encoding': encoding } = intake.headers;
  // The body of an unverified request is not decoded, and credentials in it could not be found.
  const isEncoded = encoding !== undefined && encoding !== '' && !intake.isPlain;
  const wasRead = !isEncoded && (readsBody(intake.stage) || intake.body.length > 0);
  return {
    number,
    head: headOf(intake, reply, context, wasRead ? intake.body.length : null),
    body: wasRead ? intake.body : null,
    credentials: { places: bodyPlaces(intake.route.plan, context.schemes), format: intake.route.body },
    refused: refusedOf(intake),
  };
}

const BODY_AT = STAGE_NAMES.indexOf('body');

const readsBody = (stage: StageName | null): boolean => stage === null || STAGE_NAMES.indexOf(stage) > BODY_AT;

function headOf(
  intake: Intake,
  { outcome, status }: Reply,
  { places, now, replayOf }: RecordContext,
  body_bytes: number | null,
): KeptHead {
  const { plan } = intake.route;
  return {
    at: intake.receivedAt,
    profile: plan.profile,
    route: plan.name,
    method: intake.method,
    path: pathWithoutCredentials(intake.url, places),
    headers: withoutCredentials(intake.rawHeaders, places).filter(
      ([name]) => !intake.isPlain || name.toLowerCase() !== 'content-encoding',
    ),
    outcome,
    status,
    stage: intake.stage,
    reason: intake.reason,
    about: reasonOf(intake)?.about ?? null,
    cause: null,
    event: intake.event,
    delivery_id: intake.deliveryId,
    ...schemeOf(intake),
    verified: intake.authenticated,
    body_bytes,
    body_sha256: null,
    dispatch_id: isStored(outcome, intake) ? (intake.dispatch?.id ?? null) : null,
    ...(intake.events === null ? {} : { events: intake.events.map(keptEvent) }),
    replay_of: replayOf,
    ms: Math.round((now - intake.startedAt) * 100) / 100,
  };
}

/** The record of an event that was sent to an unknown path. @param nearest path of the most similar route */
export function missRecord(
  number: number,
  { method = '', url = '', rawHeaders }: IntakeRequest,
  { places, at, nearest }: { places: CredentialPlaces; at: number; nearest: string | null },
): UnfinishedRecord {
  const { outcome, status } = UNKNOWN_ROUTE;
  const head: KeptHead = {
    at,
    method,
    outcome,
    status,
    profile: '',
    route: '',
    path: pathWithoutCredentials(url, places),
    headers: withoutCredentials(rawHeaders, places),
    about: nearest === null ? null : { kind: 'text', text: `the nearest route is ${nearest}` },
    stage: null,
    reason: null,
    cause: null,
    event: '',
    delivery_id: '',
    scheme: null,
    verified: false,
    body_bytes: null,
    body_sha256: null,
    dispatch_id: null,
    replay_of: null,
    ms: 0,
  };
  return { number, head, body: null, credentials: { places: [], format: null }, refused: null };
}

const keptEvent = ({ intake, reply: { outcome } }: BatchEvent): KeptEvent => ({
  event: intake.event,
  delivery_id: intake.deliveryId,
  outcome,
  stage: intake.stage,
  reason: intake.reason,
  dispatch_id: isStored(outcome, intake) ? (intake.dispatch?.id ?? null) : null,
});

function schemeOf({ scheme, route }: Intake): Pick<KeptHead, 'scheme' | 'scheme_label'> {
  const label = schemeLabel(route.plan, scheme);
  return { scheme: scheme === '' ? null : scheme, ...(label === scheme ? {} : { scheme_label: label }) };
}

/** Whether the event became a delivery, even if that failed while the sender waited. */
const isStored = (outcome: Outcome, { reason }: Intake): boolean =>
  reason !== 'job_already_running' && (ACCEPTED_OUTCOMES.has(outcome) || outcome === 'delivery_failed');

/** Places in the body where the route's senders put credentials. */
function bodyPlaces(
  { source, schemes: accepted }: RoutePlan,
  schemes: RecordContext['schemes'],
): readonly LocatorPlan[] {
  const names = source === null ? accepted : [source, ...accepted];
  return names
    .flatMap((name) => (Object.hasOwn(schemes, name) ? placesOf(schemes[name] as SchemePlan) : []))
    .flatMap(([at]) => (at.in === 'json' || at.in === 'form' ? [at] : []));
}

function refusedOf(intake: Intake): RefusedRequest | null {
  const { stage, reason, scheme, method, url, headers, rawHeaders, receivedAt, route } = intake;
  if ((stage !== 'signature' && stage !== 'credential') || reason === null || intake.authenticated) return null;
  return {
    ...route.evidence(),
    refused: { ok: false, scheme: scheme === '' ? null : scheme, reason: reason as VerifyReason },
    // The body is sent separately.
    parts: { method, url, headers, rawHeaders, body: NO_BODY },
    now: receivedAt,
  };
}

export const NO_BODY = Buffer.alloc(0);

/** Values by their names in lower case. */
interface NamedValues {
  /** The kind of credential, by name. */
  readonly credentials: ReadonlyMap<string, string>;
  /** Names of values that hold an event type, an id, a timestamp or a challenge, even if they sound like credentials. */
  readonly harmless: ReadonlySet<string>;
}

export interface CredentialPlaces {
  readonly header: NamedValues;
  readonly query: NamedValues;
}

/** Collects the places of all these schemes. */
export function credentialPlaces(schemes: readonly SchemePlan[]): CredentialPlaces {
  const named = (place: LocatorPlan['in'], credentials: readonly (readonly [string, string])[]): NamedValues => {
    const own = schemes.flatMap(placesOf).filter(([at]) => at.in === place);
    const harmless = schemes.flatMap(harmlessPlaces).filter((at) => at.in === place);
    return {
      credentials: new Map([...credentials, ...own.map(([at, what]) => [at.name.toLowerCase(), what] as const)]),
      harmless: new Set(harmless.map(({ name }) => name.toLowerCase())),
    };
  };
  return {
    header: named('header', Object.entries(SECRET_HEADERS)),
    query: named('query', Object.entries(SECRET_PARAMETERS)),
  };
}

function harmlessPlaces({ event, delivery, id, timestamp, challenges }: SchemePlan): readonly LocatorPlan[] {
  const sentBack = challenges.flatMap(({ kind, value }) => (kind === 'capture' ? [] : [value]));
  return [...event, ...delivery, id, timestamp?.at ?? null, ...sentBack].filter((at) => at !== null);
}

/** All places of a scheme that hold a credential, each with its kind. */
export function placesOf({
  verify,
  signature,
  challenges,
  credentials = [],
}: SchemePlan): readonly (readonly [LocatorPlan, string])[] {
  const what = verify === 'token' ? 'token' : verify === 'basic' ? 'credentials' : 'signature';
  const own = signature.map((at) => [at, what] as const);
  const handshakes = challenges.flatMap(({ kind, token, value }) => [
    ...(token === null ? [] : [[token, 'verify token'] as const]),
    ...(kind === 'capture' && value !== null ? [[value, 'secret'] as const] : []),
  ]);
  return [...own, ...handshakes, ...credentials.map((at) => [at, 'credential'] as const)];
}

/** Returns the headers in order, with a marker instead of each credential. @param rawHeaders alternating names and values */
export function withoutCredentials(
  rawHeaders: readonly string[],
  { header, query }: CredentialPlaces,
): readonly (readonly [name: string, value: string])[] {
  const captured: (readonly [string, string])[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    const what = whatOf(name, header) ?? (CREDENTIAL.test(value) ? 'credentials' : null);
    captured.push([name, what === null ? withoutUrlCredentials(value, query) : marker(what)]);
  }
  return captured;
}

/** Returns a request target with a marker instead of each credential in its query. */
export const pathWithoutCredentials = (url: string, { query }: CredentialPlaces): string =>
  withoutUrlCredentials(url, query);

/** A value that is a credential under any name: after a scheme of HTTP authentication, or a signed JWT. */
const CREDENTIAL =
  /^\s*(?:(?:bearer|basic|digest|negotiate|ntlm|dpop|hawk|aws4-hmac-sha256)\s+\S|eyJ[\w-]+\.eyJ[\w-]+\.[\w-]*\s*$)/i;

function whatOf(name: string, { credentials, harmless }: NamedValues): string | null {
  const key = name.toLowerCase();
  return credentials.get(key) ?? (namesCredential(name) && !harmless.has(key) ? 'credential' : null);
}

const withoutUrlCredentials = (text: string, query: NamedValues): string =>
  replaceUrlCredentials(text, (name) => whatOf(name, query));

/** Anywhere in a name, because names are also written without separators (`accesstoken`). */
const PARTS =
  /token|secret|passw|passcode|passphrase|passkey|pwd|auth(?!or(?!i))|signature|hmac|credential|cookie|session|sessid|jwt|oidc|saml|bearer|assertion|dpop/;

const wordsOf = (row: string): ReadonlySet<string | undefined> => new Set(row.split(' '));

const WORDS = wordsOf(SECRET_WORDS);
const HARMLESS = wordsOf(HARMLESS_KEYS);
const ABOUT = wordsOf(ABOUT_KEYS);
const CODES = wordsOf(SECRET_CODES);
const SIGNS = wordsOf(SIGNING);
/** Before `sid`. Any other `sid` names an object (`MessageSid`). */
const SESSIONS: ReadonlySet<string | undefined> = new Set([undefined, 'x', 'connect']);

/** Whether a value of this name may be a credential. @param name in any case: `X-Api-Key`, `apiKey`, `client_secret` */
export function namesCredential(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== '');
  return PARTS.test(name.toLowerCase()) || words.some((word, at) => isSecretWord(word, words[at - 1], words[at + 1]));
}

function isSecretWord(word: string, before: string | undefined, after: string | undefined): boolean {
  if (WORDS.has(word)) return true;
  if (word === 'sid') return SESSIONS.has(before);
  if (word === 'sign') return !SIGNS.has(after);
  if (word === 'code') return CODES.has(before);
  if (!word.endsWith('key') || ABOUT.has(after)) return false;
  return !HARMLESS.has(word === 'key' ? (before ?? '') : word.slice(0, -'key'.length));
}

/** A parameter name and `=`. It starts after a separator, so that a long text is searched only once. */
const PARAMETER = /(?<![^?&;#\s=/])[^?&;#\s=/]+=/g;
const USER = /:\/\/[^/?#\s]*@/g;
const MAY_HOLD = /[=@%\\]/;
/** A URL in a parameter of a URL in a parameter is escaped twice. */
const MAX_LAYERS = 3;

interface UrlCredential {
  readonly start: number;
  readonly end: number;
  /** The kind of credential. */
  readonly what: string;
}

/**
 * Replaces the user part and secret parameters of URLs with markers, including URLs that are escaped inside other URLs.
 * @param whatOf returns the kind of credential in a parameter of this name; null if it contains none
 */
function replaceUrlCredentials(text: string, whatOf: (name: string) => string | null): string {
  if (!MAY_HOLD.test(text)) return text;
  const found = [...findCredentials(text, whatOf)];
  for (const { text: inner, starts } of decodedLayers(text, MAX_LAYERS))
    for (const { start, end, what } of findCredentials(inner, whatOf))
      found.push({ start: starts[start] ?? 0, end: starts[end] ?? text.length, what });
  let cleaned = '';
  let copied = 0;
  for (const { start, end, what } of found.sort((a, b) => a.start - b.start || b.end - a.end)) {
    if (start >= copied) cleaned += text.slice(copied, start) + encodeURIComponent(marker(what));
    copied = Math.max(copied, end);
  }
  return cleaned + text.slice(copied);
}

/** A value ends at `&` or white space, not at `;`, which some parsers read as part of the value. */
function* findCredentials(text: string, whatOf: (name: string) => string | null): Iterable<UrlCredential> {
  for (const { 0: user, index } of text.matchAll(USER))
    yield { start: index + '://'.length, end: index + user.length - 1, what: 'credentials' };
  let end = 0;
  for (const { 0: name, index } of text.matchAll(PARAMETER)) {
    const what = index < end ? null : whatOf(parameterName(name));
    if (what === null) continue;
    const start = index + name.length;
    const length = text.slice(start).search(/[&\s]/);
    end = length < 0 ? text.length : start + length;
    if (end > start) yield { start, end, what };
  }
}

/** Returns the decoded name without brackets: `token` for `%74oken[]=`. */
function parameterName(start: string): string {
  const [name = ''] = new URLSearchParams(start).keys();
  return name.replace(/\[.*$/s, '');
}
