/**
 * Finds the most likely reason why a signature was refused: for the operator, who has the secret, never for the sender.
 * It tries the usual mistakes one at a time. A cause is certain when that one change makes the signature right, or when
 * the request itself shows it; everything else is reported as a guess.
 */

import { REASON_TEXTS } from '../../../../runtime/verify/cause-code.ts';
import { printPlace } from '../../../../runtime/verify/locator.ts';
import { LazyRequest } from '../../../../runtime/verify/request.ts';
import type { SecretText } from '../../../../runtime/verify/scheme.ts';
import type { RefusedRequest } from '../../../../runtime/verify/signature-evidence.ts';
import { ageOf, readTimestamp } from '../../../../runtime/verify/timestamp.ts';
import type { VerifyReason } from '../../../../runtime/verify/verification.ts';
import type { SchemePlan, SignatureCause } from '../../../../schemas/generated/types.ts';
import type { NearMissCode } from './near-misses.ts';
import { findNearMiss } from './near-misses.ts';
import { misplacedSecret, presentOtherScheme, rightOtherScheme } from './other-scheme.ts';
import { tryTrial } from './trial.ts';

/** Codes for why a signature was refused; docs/why-ignored.md explains each. */
type CauseCode = VerifyReason | FoundCause;

/** Found by trying the usual mistakes, or by looking elsewhere in the request. */
export type FoundCause =
  | NearMissCode
  | 'misplaced_secret'
  | 'old_secret'
  | 'other_scheme'
  | 'timestamp_unit'
  /** A guess: nothing that was tried makes the signature right. */
  | 'unknown';

/** Reasons for which other readings of the signature are tried: the request alone does not explain them. */
const TRIED: ReadonlySet<VerifyReason> = new Set([
  'mismatch',
  'malformed_signature',
  'unknown_version',
  'unusable_secret',
  'stale_timestamp',
  'future_timestamp',
  'bad_timestamp',
]);

/** The most likely cause; `unknown` when none of the usual mistakes explains the signature. */
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
      `it would be right, but the timestamp is ${UNITS[meant.unit]}, where this source sends ${unitOf(plan)}`,
    );
  // Trials ignore the age: if one succeeds, only the age is wrong.
  if (trials.some((trial) => tryTrial(trial).ok)) return seen(reason, REASON_TEXTS[reason] + pastWindow(request, plan));
  const old = expired.some((secret) => tryTrial({ plan, parts: request.parts, secret, url: request.publicUrl }).ok);
  if (old) return seen('old_secret', 'right under a previous secret, whose time is over: the sender still has it');
  for (const trial of trials) {
    const near = findNearMiss(trial);
    if (near !== null) return seen(near.code, `it would be right, but ${near.says}`);
  }
  return rightOtherScheme(request);
}

/** How far a signed instant is outside the window; empty when it is unknown. */
function pastWindow({ parts, now }: RefusedRequest, { timestamp }: SchemePlan): string {
  if (timestamp === null) return '';
  const found = readTimestamp(timestamp, new LazyRequest(parts));
  const age = typeof found === 'string' ? null : ageOf(timestamp, found.text, now);
  if (age === null) return '';
  const seconds = Math.round(Math.abs(age) / 1000);
  return `: ${seconds} s, ${seconds - timestamp.tolerance} s more than the ${timestamp.tolerance} s that are allowed`;
}

type Timestamp = NonNullable<SchemePlan['timestamp']>;

const UNITS: Readonly<Record<Timestamp['unit'], string>> = {
  s: 'Unix time in seconds',
  ms: 'Unix time in milliseconds',
  iso: 'a date as in RFC 3339',
};

const unitOf = ({ timestamp }: SchemePlan): string => (timestamp === null ? '' : UNITS[timestamp.unit]);

/** The timestamp plan in another unit, where that unit brings the timestamp nearer to now. */
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
  const places = [...new Set(schemes.flatMap(({ signature }) => signature.map(printPlace)))];
  return `nothing of the request is a signature: looked for ${places.join(', ')}. The sender has no secret set, or a proxy removes the header`;
}

/** The cause when nothing that was tried makes the signature right. */
function unexplained(reason: VerifyReason, plan: SchemePlan): SignatureCause {
  const text = REASON_TEXTS[reason];
  if (FORMAL.has(reason)) return seen(reason, reason === 'bad_timestamp' ? `${text}: ${unitOf(plan)}` : text);
  const aged = reason === 'mismatch' ? '' : `${text}; besides, the signature does not match: `;
  return { code: 'unknown', certain: false, text: `${aged}the secret differs, or a proxy changed the body` };
}

/** Visible in the request or the secret, without any trial. */
const FORMAL: ReadonlySet<VerifyReason> = new Set([
  'malformed_signature',
  'unknown_version',
  'bad_timestamp',
  'unusable_secret',
]);
