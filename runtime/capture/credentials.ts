/**
 * Takes credentials out of a request before it is kept. Which headers and query parameters hold them is known from the data
 * of the sources: every place that any scheme reads a signature, a token or a secret from. Others are recognised by their
 * names, since a token may be sent to the wrong route.
 */
import type { LocatorPlan, SchemePlan } from '../../schemas/generated/types.ts';
import { marker } from '../verify/removed.ts';

/** By names in small letters. */
interface NamedValues {
  /** What the value is. */
  readonly credentials: ReadonlyMap<string, string>;
  /** Those that hold an event type, an id, an instant or a challenge, whatever their names sound like. */
  readonly harmless: ReadonlySet<string>;
}

export interface CredentialPlaces {
  readonly header: NamedValues;
  readonly query: NamedValues;
}

/** Headers that hold credentials, whichever sender uses them. */
const HEADERS: readonly (readonly [string, string])[] = [
  ['authorization', 'credentials'],
  ['proxy-authorization', 'credentials'],
  ['cookie', 'cookies'],
  ['set-cookie', 'cookies'],
];
/** Names that no source uses, but that sound as if they held one. */
const SOUNDS_SECRET =
  /token|secret|passw|pwd|auth(?!or(?!i))|signature|hmac|credential|session|jwt|oidc|(api|access|account|subscription|functions?|private|shared)[^a-z]?key/;
/** Query parameters that are credentials by custom, though their names do not sound so. */
const PARAMETERS = ['key', 'sig', 'sign', 'code'];

/** The places of all these schemes. */
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

/** A request target with a marker in place of each credential of its query. */
export const pathWithoutCredentials = (url: string, { query }: CredentialPlaces): string =>
  withoutUrlCredentials(url, query);

function whatOf(name: string, { credentials, harmless }: NamedValues): string | null {
  const key = name.toLowerCase();
  return credentials.get(key) ?? (SOUNDS_SECRET.test(key) && !harmless.has(key) ? 'credential' : null);
}

/** Begins behind whatever separates parameters, so that a long text is searched once. */
const PARAMETER = /(?<![^?&;#\s=/])[^?&;#\s=/]+=/g;
const USER = /:\/\/[^/?#\s]*@/g;

/**
 * A text without the users and the secret parameters of the URLs in it: a request target, or a header in which a proxy hands
 * on the one it got. A value ends at `&` or a space: some read `;` as a separator, others as a part of the value.
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

/** `token` of `%74oken[]=`. */
function parameterName(start: string): string {
  const [name = ''] = new URLSearchParams(start).keys();
  return name.replace(/\[.*$/s, '');
}
