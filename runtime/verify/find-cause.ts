/**
 * What most likely went wrong with a signature that was refused: for the operator, who has the secret, never for the
 * sender. It tries the usual mistakes one at a time. A cause is certain when with that one change the signature is right, or
 * when what it says can be seen in the request; everything else is a guess and says so.
 */
import type { SchemePlan, SignatureCause } from '../../schemas/generated/types.ts';
import { readValue } from './locator.ts';
import { findNearMiss } from './near-misses.ts';
import { printPlace } from './print-place.ts';
import { REASON_TEXTS } from './reason-texts.ts';
import type { RequestParts } from './request.ts';
import { LazyRequest } from './request.ts';
import type { SecretText } from './scheme.ts';
import { ageOf, readTimestamp } from './timestamp.ts';
import { tryTrial } from './trial.ts';
import type { Refused, VerifyReason } from './verdict.ts';

/** What a refused signature is looked into with. */
export interface SignatureEvidence {
  /** What the route accepts. */
  readonly schemes: readonly SchemePlan[];
  /** Every scheme there is. */
  readonly known: readonly SchemePlan[];
  /** The route's secrets, those that have expired too. */
  readonly secrets: readonly SecretText[];
  readonly publicUrl: string | null;
}

export interface RefusedRequest extends SignatureEvidence {
  readonly refused: Refused;
  readonly parts: RequestParts;
  /** Unix ms. */
  readonly now: number;
}

/** Reasons that a wrong digest may be behind: what the request looks like does not decide them. */
const TRIED: ReadonlySet<VerifyReason> = new Set([
  'mismatch',
  'malformed_signature',
  'unknown_version',
  'unusable_secret',
  'stale_timestamp',
  'future_timestamp',
  'bad_timestamp',
]);

export function findCause(request: RefusedRequest): SignatureCause {
  const { reason, scheme } = request.refused;
  const plan = request.schemes.find(({ name }) => name === scheme);
  if (reason === 'missing_signature' || reason === 'missing_credential')
    return otherScheme(request) ?? seen(reason, missingText(request.schemes));
  if (plan === undefined || !TRIED.has(reason)) return seen(reason, REASON_TEXTS[reason]);
  return tried(request, plan) ?? unexplained(reason);
}

function tried(request: RefusedRequest, plan: SchemePlan): SignatureCause | null {
  const { reason } = request.refused;
  const { current, expired } = bySecret(request);
  const trials = current.map((secret) => ({ plan, parts: request.parts, secret, url: request.publicUrl }));
  // At another time it would have been right: its age is all that is wrong.
  if (trials.some((trial) => tryTrial(trial).ok)) return seen(reason, REASON_TEXTS[reason] + pastWindow(request, plan));
  const old = expired.some((secret) => tryTrial({ plan, parts: request.parts, secret, url: request.publicUrl }).ok);
  if (old)
    return {
      code: 'old_secret',
      certain: true,
      text: 'right under a previous secret, whose time is over: the sender still has it',
    };
  for (const trial of trials) {
    const near = findNearMiss(trial);
    if (near !== null) return { code: near.code, certain: true, text: `it would be right, but ${near.says}` };
  }
  return otherScheme(request, true);
}

/** By how much a signed instant lies outside of the window; empty when none does. */
function pastWindow({ parts, now }: RefusedRequest, { timestamp }: SchemePlan): string {
  if (timestamp === null) return '';
  const found = readTimestamp(timestamp, new LazyRequest(parts));
  const age = typeof found === 'string' ? null : ageOf(timestamp, found.text, now);
  if (age === null) return '';
  const seconds = Math.round(Math.abs(age) / 1000);
  return `: ${seconds} s, ${seconds - timestamp.tolerance} s more than the ${timestamp.tolerance} s that are allowed`;
}

function bySecret({ secrets, now }: RefusedRequest): { readonly current: string[]; readonly expired: string[] } {
  const isOver = ({ expires_at }: SecretText): boolean => expires_at !== null && expires_at <= now;
  return {
    current: secrets.filter((secret) => !isOver(secret)).map(({ text }) => text),
    expired: secrets.filter(isOver).map(({ text }) => text),
  };
}

/**
 * The signature of a scheme that the route does not accept. Certain when it is right under the route's secret; else another
 * sender may share the header.
 * @param onlyRight leaves out those that cannot be verified
 */
function otherScheme(request: RefusedRequest, onlyRight = false): SignatureCause | null {
  const { parts, known, schemes, secrets, publicUrl: url } = request;
  const parsed = new LazyRequest(parts);
  const present = known.filter(
    (plan) =>
      !schemes.some(({ name }) => name === plan.name) &&
      plan.verify !== 'none' &&
      plan.signature.some((at) => (at.in === 'header' || at.in === 'query') && readValue(at, parsed) !== undefined),
  );
  const right = present.find((plan) => secrets.some(({ text }) => tryTrial({ plan, parts, secret: text, url }).ok));
  const found = right ?? (onlyRight ? undefined : present[0]);
  if (found === undefined) return null;
  const place = found.signature.find((at) => readValue(at, parsed) !== undefined);
  const header = place === undefined ? 'a signature' : printPlace(place);
  const whose =
    right === undefined ? 'which other senders use' : `the signature of ${found.name}, and right under this secret`;
  return {
    code: 'other_scheme',
    certain: right !== undefined,
    text: `the request carries ${header}, ${whose}; the route accepts ${schemes.map(({ name }) => name).join(', ')}`,
  };
}

const seen = (code: VerifyReason, text: string): SignatureCause => ({ code, certain: true, text });

function missingText(schemes: readonly SchemePlan[]): string {
  const places = [...new Set(schemes.flatMap(({ signature }) => signature.map(printPlace)))];
  return `nothing of the request is a signature: looked for ${places.join(', ')}. The sender has no secret set, or a proxy removes the header`;
}

/** A signature that is not right under any secret, whatever is tried. */
function unexplained(reason: VerifyReason): SignatureCause {
  const isFormal = reason === 'malformed_signature' || reason === 'unknown_version' || reason === 'bad_timestamp';
  const text = 'the secret differs, or a proxy changed the body';
  if (isFormal) return { code: reason, certain: true, text: REASON_TEXTS[reason] };
  if (reason === 'unusable_secret') return { code: reason, certain: true, text: REASON_TEXTS[reason] };
  const aged = reason === 'mismatch' ? '' : `${REASON_TEXTS[reason]}; besides, the signature does not match: `;
  return { code: 'unknown', certain: false, text: `${aged}${text}` };
}
