/**
 * The record of an answered request, without credentials. The data of the sources tells which headers, query parameters and
 * fields hold them: all places from which any scheme reads a signature, a token or a secret, because a token may be sent to
 * the wrong route. Others are recognised by their names.
 */
import type { Intake } from '../../../../runtime/intake/intake.ts';
import type { KeptHead } from '../../../../runtime/intake/kept-request.ts';
import type { ReasonDetail } from '../../../../runtime/intake/reason.ts';
import { reasonOf } from '../../../../runtime/intake/reason.ts';
import type { Reply } from '../../../../runtime/intake/reply.ts';
import type { StageName } from '../../../../runtime/intake/stage.ts';
import { STAGE_NAMES } from '../../../../runtime/intake/stage.ts';
import { marker } from '../../../../runtime/verify/removed.ts';
import type { RefusedRequest } from '../../../../runtime/verify/signature-evidence.ts';
import type { VerifyReason } from '../../../../runtime/verify/verification.ts';
import type { KeptReason, LocatorPlan, RoutePlan, SchemePlan } from '../../../../schemas/generated/types.ts';

/** A request in the form in which it is sent to the thread that stores it. */
export interface Captured {
  /** The number in its id. */
  readonly number: number;
  /** Without the digest of the body and the cause, which the thread adds. */
  readonly head: KeptHead;
  /** As received; null when it was not read. */
  readonly body: Uint8Array | null;
  /** Places of the body that hold credentials. */
  readonly credentials: readonly LocatorPlan[];
  /** What the search for the cause of a refused signature needs; null for any other request. */
  readonly refused: RefusedRequest | null;
}

export interface RecordContext {
  readonly places: CredentialPlaces;
  /** By name. */
  readonly schemes: Readonly<Record<string, SchemePlan>>;
  /** Monotonic ms. */
  readonly now: number;
  /** Id of the kept request that this one replays. */
  readonly replayOf: string | null;
}

/** @param number the number in the id of the kept request */
export function makeRecord(number: number, intake: Intake, reply: Reply, context: RecordContext): Captured {
  const wasRead = readsBody(intake.stage);
  return {
    number,
    head: headOf(intake, reply, context, wasRead ? intake.body.length : null),
    body: wasRead ? intake.body : null,
    credentials: bodyPlaces(intake.route.plan, context.schemes),
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
    headers: withoutCredentials(intake.rawHeaders, places),
    outcome,
    status,
    stage: intake.stage,
    reason: intake.reason,
    about: keptReason(reasonOf(intake)?.about ?? null),
    cause: null,
    event: intake.event,
    delivery_id: intake.deliveryId,
    scheme: intake.scheme === '' ? null : intake.scheme,
    verified: intake.authenticated,
    body_bytes,
    body_sha256: null,
    dispatch_id: intake.stage === 'dispatch' ? (intake.dispatch?.id ?? null) : null,
    replay_of: replayOf,
    ms: Math.round((now - intake.startedAt) * 100) / 100,
  };
}

/** Places in the body where the route's senders put credentials. */
function bodyPlaces(
  { source, schemes: accepted }: RoutePlan,
  schemes: RecordContext['schemes'],
): Captured['credentials'] {
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

const NO_BODY = Buffer.alloc(0);

/** The detail of a reason in the form in which it is kept and printed (`schemas/requests.schema.json`). */
function keptReason(detail: ReasonDetail | null): KeptReason | null {
  switch (detail?.kind) {
    case undefined:
      return null;
    case 'signature': {
      const { kind, scheme, lookedFor, otherSources, ageSeconds, sent } = detail;
      return {
        kind,
        scheme,
        looked_for: [...lookedFor],
        other_sources: [...otherSources],
        age_seconds: ageSeconds,
        sent: { event: sent.event, delivery_id: sent.deliveryId },
      };
    }
    case 'event':
      return { kind: 'event', accepts: [...detail.accepts] };
    default:
      return detail;
  }
}

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

/** Standard headers that hold credentials. */
const HEADERS: readonly (readonly [string, string])[] = [
  ['authorization', 'credentials'],
  ['proxy-authorization', 'credentials'],
  ['cookie', 'cookies'],
  ['set-cookie', 'cookies'],
];
/** Names that suggest a credential although no source uses them. */
const SOUNDS_SECRET =
  /token|secret|passw|pwd|auth(?!or(?!i))|signature|hmac|credential|session|jwt|oidc|(api|access|account|subscription|functions?|private|shared)[^a-z]?key/;
/** Query parameters that often hold credentials although their names do not match the expression. */
const PARAMETERS = ['key', 'sig', 'sign', 'code'];

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
    header: named('header', HEADERS),
    query: named(
      'query',
      PARAMETERS.map((name) => [name, 'credential']),
    ),
  };
}

function harmlessPlaces({ event, delivery, id, timestamp, challenges }: SchemePlan): readonly LocatorPlan[] {
  const sentBack = challenges.flatMap(({ kind, value }) => (kind === 'capture' ? [] : [value]));
  return [...event, ...delivery, id, timestamp?.at ?? null, ...sentBack].filter((at) => at !== null);
}

/** All places of a scheme that hold a credential, each with its kind. */
export function placesOf({ verify, signature, challenges }: SchemePlan): readonly (readonly [LocatorPlan, string])[] {
  const what = verify === 'token' ? 'token' : verify === 'basic' ? 'credentials' : 'signature';
  const own = signature.map((at) => [at, what] as const);
  const handshakes = challenges.flatMap(({ kind, token, value }) => [
    ...(token === null ? [] : [[token, 'verify token'] as const]),
    ...(kind === 'capture' && value !== null ? [[value, 'secret'] as const] : []),
  ]);
  return [...own, ...handshakes];
}

/** The headers in order, with a marker instead of each credential. @param rawHeaders names and values alternating */
export function withoutCredentials(
  rawHeaders: readonly string[],
  { header, query }: CredentialPlaces,
): readonly (readonly [name: string, value: string])[] {
  const kept: (readonly [string, string])[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    const what = whatOf(name, header);
    kept.push([name, what === null ? withoutUrlCredentials(value, query) : marker(what)]);
  }
  return kept;
}

/** A request target with a marker instead of each credential in its query. */
export const pathWithoutCredentials = (url: string, { query }: CredentialPlaces): string =>
  withoutUrlCredentials(url, query);

function whatOf(name: string, { credentials, harmless }: NamedValues): string | null {
  const key = name.toLowerCase();
  return credentials.get(key) ?? (SOUNDS_SECRET.test(key) && !harmless.has(key) ? 'credential' : null);
}

/** A parameter name and `=`. It starts after a separator, so that a long text is searched only once. */
const PARAMETER = /(?<![^?&;#\s=/])[^?&;#\s=/]+=/g;
const USER = /:\/\/[^/?#\s]*@/g;

/**
 * Removes the user part and secret parameters of URLs from a text: a request target, or a header in which a proxy forwards
 * the original one. A value ends at `&` or white space, not at `;`, which some parsers read as part of the value.
 */
function withoutUrlCredentials(text: string, query: NamedValues): string {
  if (!text.includes('=') && !text.includes('@')) return text;
  const url = text.replace(USER, `://${encodeURIComponent(marker('credentials'))}@`);
  let kept = '';
  let copied = 0;
  for (const { 0: start, index } of url.matchAll(PARAMETER)) {
    const what = index < copied ? null : whatOf(parameterName(start), query);
    if (what === null) continue;
    const value = index + start.length;
    kept += url.slice(copied, value) + encodeURIComponent(marker(what));
    const length = url.slice(value).search(/[&\s]/);
    copied = length < 0 ? url.length : value + length;
  }
  return kept + url.slice(copied);
}

/** The decoded name without brackets: `token` for `%74oken[]=`. */
function parameterName(start: string): string {
  const [name = ''] = new URLSearchParams(start).keys();
  return name.replace(/\[.*$/s, '');
}
