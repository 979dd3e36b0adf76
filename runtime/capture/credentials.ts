/**
 * Takes credentials out of a request before it is kept. Which headers and query parameters hold them is known from the data
 * of the sources: every place that any scheme reads a signature, a token or a secret from.
 */
import type { LocatorPlan, SchemePlan } from '../../schemas/generated/types.ts';
import { queryOf } from '../verify/locator.ts';

/** What a value was, by the name of its header in small letters, or of its query parameter. */
export interface CredentialPlaces {
  readonly headers: ReadonlyMap<string, string>;
  readonly query: ReadonlyMap<string, string>;
  /** Headers that hold an event type, an id or an instant, whatever their names sound like. */
  readonly harmless: ReadonlySet<string>;
}

/** Headers that hold credentials whoever sends them. */
const HEADERS: readonly (readonly [string, string])[] = [
  ['authorization', 'credentials'],
  ['proxy-authorization', 'credentials'],
  ['cookie', 'cookies'],
  ['set-cookie', 'cookies'],
];
/** Names of headers that no source uses, but that sound as if they held one: a token may be sent to the wrong route. */
const SOUNDS_SECRET = /token|secret|passw|api-?key|auth|signature|hmac|credential|session|jwt/;
/** Query parameters of senders that no source describes (decisions: requests are kept). */
const PARAMETERS = ['token', 'access_token', 'api_key', 'key', 'secret', 'password', 'sig', 'signature'];

/** The places of all these schemes. */
export function credentialPlaces(schemes: readonly SchemePlan[]): CredentialPlaces {
  const headers = new Map(HEADERS);
  const query = new Map(PARAMETERS.map((name) => [name, 'credential']));
  const harmless = new Set<string>();
  for (const scheme of schemes) {
    for (const at of [...scheme.event, ...scheme.delivery, scheme.id, scheme.timestamp?.at ?? null]) {
      if (at?.in === 'header') harmless.add(at.name);
    }
    for (const [at, what] of placesOf(scheme)) {
      if (at.in === 'header') headers.set(at.name, what);
      if (at.in === 'query') query.set(at.name.toLowerCase(), what);
    }
  }
  return { headers, query, harmless };
}

/** Every place of a scheme that holds a credential, with what it is. */
export function placesOf({ verify, signature, challenges }: SchemePlan): readonly (readonly [LocatorPlan, string])[] {
  const what = verify === 'token' ? 'token' : verify === 'basic' ? 'credentials' : 'signature';
  const own = signature.map((at) => [at, what] as const);
  const handshakes = challenges.flatMap(({ kind, token, value }) => [
    ...(token === null ? [] : [[token, 'verify token'] as const]),
    ...(kind === 'capture' && value !== null ? [[value, 'secret'] as const] : []),
  ]);
  return [...own, ...handshakes];
}

/** The headers in their order, with a marker in place of each credential. @param rawHeaders names and values in turn */
export function withoutCredentials(
  rawHeaders: readonly string[],
  { headers, harmless }: CredentialPlaces,
): readonly (readonly [name: string, value: string])[] {
  const kept: (readonly [string, string])[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    const key = name.toLowerCase();
    const what = headers.get(key) ?? (SOUNDS_SECRET.test(key) && !harmless.has(key) ? 'credential' : null);
    kept.push([name, what === null ? (rawHeaders[at + 1] ?? '') : marker(what)]);
  }
  return kept;
}

/** A request target with a marker in place of each credential of its query. */
export function pathWithoutCredentials(url: string, { query }: CredentialPlaces): string {
  const text = queryOf(url);
  if (text === '') return url;
  const path = url.slice(0, url.length - text.length);
  return (
    path +
    text
      .split('&')
      .map((pair) => withoutCredential(pair, query))
      .join('&')
  );
}

function withoutCredential(pair: string, query: CredentialPlaces['query']): string {
  const [name = ''] = pair.split('=', 1);
  const [decoded = name] = new URLSearchParams(name).keys();
  const what = query.get(decoded.toLowerCase());
  return what === undefined ? pair : `${name}=${encodeURIComponent(marker(what))}`;
}

const MARKER = /^\[removed: [a-z ]+\]$/;

export const marker = (what: string): string => `[removed: ${what}]`;

/** Whether a value of a kept request stands for a credential that was removed. */
export const isMarker = (value: string): boolean => MARKER.test(value);
