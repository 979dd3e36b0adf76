/**
 * Finds the most likely reason why a signature is invalid: for the operator, who has the secret, never for the sender.
 * It tries the usual mistakes one at a time. A cause is certain if that one change makes the signature valid, or if
 * the request itself shows it. Any other cause is reported as likely.
 */

import { schemeLabel } from '../../../../base/text.ts';
import { ageOf, readTimestamp } from '../../../../runtime/verify/content.ts';
import type { RefusedRequest, SignatureEvidence } from '../../../../runtime/verify/likely-sources.ts';
import { likelySources, locationsOutsideBody, rankOf } from '../../../../runtime/verify/likely-sources.ts';
import type { LocatorSource, RequestParts } from '../../../../runtime/verify/request.ts';
import { LazyRequest, printLocation, queryOf, readValue } from '../../../../runtime/verify/request.ts';
import type { SecretText } from '../../../../runtime/verify/scheme.ts';
import type { VerifyReason } from '../../../../runtime/verify/verification.ts';
import { REASON_TEXTS } from '../../../../runtime/verify/verification.ts';
import type { LocatorPlan, SchemePlan, SignatureCause } from '../../../../schemas/generated/types.ts';
import type { NearMissCode } from './near-misses.ts';
import { findNearMiss } from './near-misses.ts';
import { tryTrial } from './trial.ts';

/** Codes for why a signature is invalid; docs/why-ignored.md explains each. */
type CauseCode = VerifyReason | FoundCause;

/** Causes found by trying the usual mistakes, or by searching the rest of the request. */
export type FoundCause =
  | NearMissCode
  | 'misplaced_secret'
  | 'old_secret'
  | 'other_scheme'
  | 'timestamp_unit'
  /** No change that was tried makes the signature valid. */
  | 'unknown';

/** Reasons that the request alone does not explain, so that other readings of the signature are tried. */
const TRIED: ReadonlySet<VerifyReason> = new Set([
  'mismatch',
  'malformed_signature',
  'unknown_version',
  'unusable_secret',
  'stale_timestamp',
  'future_timestamp',
  'bad_timestamp',
]);

/** Returns the most likely cause; `unknown` if none of the usual mistakes explains the signature. */
export function findCause(request: RefusedRequest): SignatureCause {
  const { reason, scheme } = request.refused;
  const plan = request.schemes.find(({ name }) => name === scheme);
  if (reason === 'missing_signature' || reason === 'missing_credential')
    return (
      rightOtherScheme(request) ??
      misplacedSecret(request) ??
      presentOtherScheme(request) ??
      seen(reason, missingText(request.schemes))
    );
  if (plan === undefined || !TRIED.has(reason)) return seen(reason, REASON_TEXTS[reason]);
  return tried(request, plan) ?? unexplained(reason, plan);
}

function tried(request: RefusedRequest, plan: SchemePlan): SignatureCause | null {
  const { reason } = request.refused;
  const { current, expired } = bySecret(request);
  const trials = current.map((secret) => ({ plan, parts: request.parts, secret, url: request.publicUrl }));
  const meant = otherUnit(request, plan);
  if (meant !== null && trials.some((trial) => tryTrial({ ...trial, plan: { ...plan, timestamp: meant } }).ok))
    return seen(
      'timestamp_unit',
      `the signature would be valid, but the timestamp is ${UNITS[meant.unit]} instead of ${unitOf(plan)}`,
    );
  // Trials ignore the age. If one succeeds, only the age is invalid.
  if (trials.some((trial) => tryTrial(trial).ok)) return seen(reason, REASON_TEXTS[reason] + pastWindow(request, plan));
  const old = expired.some((secret) => tryTrial({ plan, parts: request.parts, secret, url: request.publicUrl }).ok);
  if (old) return seen('old_secret', 'valid under an expired previous secret, which the sender still uses');
  for (const trial of trials) {
    const near = findNearMiss(trial);
    if (near !== null) return seen(near.code, `the signature would be valid, but ${near.says}`);
  }
  return rightOtherScheme(request);
}

/** Says how far a signed time is outside the window; empty if it is unknown. */
function pastWindow({ parts, now }: RefusedRequest, { timestamp }: SchemePlan): string {
  if (timestamp === null) return '';
  const found = readTimestamp(timestamp, new LazyRequest(parts));
  const age = typeof found === 'string' ? null : ageOf(timestamp, found.text, now);
  if (age === null) return '';
  const seconds = Math.round(Math.abs(age) / 1000);
  return `: ${seconds} s, ${seconds - timestamp.tolerance} s more than the allowed ${timestamp.tolerance} s`;
}

type Timestamp = NonNullable<SchemePlan['timestamp']>;

const UNITS: Readonly<Record<Timestamp['unit'], string>> = {
  s: 'Unix time in seconds',
  ms: 'Unix time in milliseconds',
  iso: 'an RFC 3339 date',
};

const unitOf = ({ timestamp }: SchemePlan): string => (timestamp === null ? '' : UNITS[timestamp.unit]);

/** Returns the timestamp plan in another unit, if that unit brings the timestamp closer to now. */
function otherUnit({ parts, now }: RefusedRequest, { timestamp }: SchemePlan): Timestamp | null {
  if (timestamp === null) return null;
  const found = readTimestamp(timestamp, new LazyRequest(parts));
  if (typeof found === 'string') return null;
  const distance = (unit: Timestamp['unit']): number => {
    const age = ageOf({ ...timestamp, unit }, found.text, now);
    return age === null ? Number.POSITIVE_INFINITY : Math.abs(age);
  };
  const units = (['s', 'ms', 'iso'] as const).filter((unit) => distance(unit) < distance(timestamp.unit));
  const [nearest] = units.sort((a, b) => distance(a) - distance(b));
  return nearest === undefined ? null : { ...timestamp, unit: nearest };
}

function bySecret({ secrets, now }: RefusedRequest): { readonly current: string[]; readonly expired: string[] } {
  const isOver = ({ expires_at }: SecretText): boolean => expires_at !== null && expires_at <= now;
  return {
    current: secrets.filter((secret) => !isOver(secret)).map(({ text }) => text),
    expired: secrets.filter(isOver).map(({ text }) => text),
  };
}

const seen = (code: CauseCode, text: string): SignatureCause => ({ code, certain: true, text });

function missingText(schemes: readonly SchemePlan[]): string {
  const places = [...new Set(schemes.flatMap(({ signature }) => signature.map(printLocation)))];
  return `the request has no signature (looked for ${places.join(', ')}): the sender has no secret, or a proxy removes the header`;
}

/** Returns the cause if no change that was tried makes the signature valid. */
function unexplained(reason: VerifyReason, plan: SchemePlan): SignatureCause {
  const text = REASON_TEXTS[reason];
  if (FORMAL.has(reason)) return seen(reason, reason === 'bad_timestamp' ? `${text}: ${unitOf(plan)}` : text);
  const aged = reason === 'mismatch' ? '' : `${text}; in addition, the signature does not match: `;
  return { code: 'unknown', certain: false, text: `${aged}the secret differs, or a proxy changed the body` };
}

/** Reasons that the request or the secret shows without a trial. */
const FORMAL: ReadonlySet<VerifyReason> = new Set([
  'malformed_signature',
  'unknown_version',
  'bad_timestamp',
  'unusable_secret',
]);

type Refused = SignatureEvidence & { readonly parts: RequestParts };

/** Finds a signature of a scheme that the route does not accept, valid under the route's secret; null if there is none. */
function rightOtherScheme(request: Refused): SignatureCause | null {
  const { parts, secrets, publicUrl: url } = request;
  const right = present(request).filter((plan) =>
    secrets.some(({ text }) => tryTrial({ plan, parts, secret: text, url }).ok),
  );
  if (right.length === 0) return null;
  const ranks = right.map((plan) => rankOf(plan, new LazyRequest(parts)));
  // Several senders may sign in the same way. Their other headers may differ.
  const names = right.filter((_plan, at) => ranks[at] === Math.max(...ranks)).map(({ name }) => name);
  const text = `${carried(right, request)}, the signature of ${names.join(' or ')}, which is valid under this secret`;
  return otherScheme(request, text, true);
}

/** Finds headers in which other senders put their signatures, valid or not; null if there are none. */
function presentOtherScheme(request: Refused): SignatureCause | null {
  const found = present(request);
  if (found.length === 0) return null;
  const names = likelySources(request.known, request.schemes, new LazyRequest(request.parts));
  const users = names.length === 0 ? 'which other senders use' : `as ${names.join(' or ')} sends it`;
  return otherScheme(request, `${carried(found, request)}, ${users}`, false);
}

/** Returns the signature places outside the body that the request contains. */
const foundPlaces = (plan: SchemePlan, request: LocatorSource): readonly LocatorPlan[] =>
  locationsOutsideBody(plan).filter((at) => readValue(at, request) !== undefined);

/** Finds the plain secret in a header or query parameter that the route does not read; null if it is in none. */
function misplacedSecret({ parts, secrets, schemes }: Refused): SignatureCause | null {
  const place = [...headerValues(parts), ...queryValues(parts)].find(([, value]) =>
    secrets.some(({ text }) => value === text || value.endsWith(` ${text}`) || value.endsWith(`=${text}`)),
  );
  if (place === undefined) return null;
  const wanted = [...new Set(schemes.flatMap(({ signature }) => signature.map(printLocation)))].join(', ');
  const text = `the request has the secret itself in ${place[0]}, which the route does not read; it reads ${wanted}`;
  return { code: 'misplaced_secret', certain: true, text };
}

function otherScheme(request: Refused, text: string, certain: boolean): SignatureCause {
  const accepted = request.schemes.map(({ name }) => schemeLabel(request, name)).join(', ');
  return { code: 'other_scheme', certain, text: `the request has ${text}; the route accepts ${accepted}` };
}

/** Returns schemes that the route does not accept and whose signature the request contains, outside the body. */
function present({ known, schemes, parts }: Refused): readonly SchemePlan[] {
  const parsed = new LazyRequest(parts);
  return known.filter(
    (plan) =>
      !schemes.some(({ name }) => name === plan.name) && plan.verify !== 'none' && foundPlaces(plan, parsed).length > 0,
  );
}

/** Lists the signature places of these schemes that the request contains, those of the fewest senders first. */
function carried(plans: readonly SchemePlan[], { known, parts }: Refused): string {
  const parsed = new LazyRequest(parts);
  const users = (place: string): number =>
    known.filter((plan) => locationsOutsideBody(plan).map(printLocation).includes(place)).length;
  const found = plans.flatMap((plan) => foundPlaces(plan, parsed).map(printLocation));
  return [...new Set(found)].sort((a, b) => users(a) - users(b)).join(' and ');
}

type Values = readonly (readonly [place: string, value: string])[];

const headerValues = ({ rawHeaders }: RequestParts): Values =>
  rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), rawHeaders[at + 1] ?? ''] as const] : []));

const queryValues = ({ url }: RequestParts): Values =>
  [...new URLSearchParams(queryOf(url))].map(([name, value]) => [`?${name}`, value] as const);
