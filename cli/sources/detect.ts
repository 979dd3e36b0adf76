/** Finds the sources that a captured request may come from, and why they would not accept it. */
import type { LoweredSource } from '../../compiler/lower/default-sources.ts';
import { readFirst, readValue } from '../../runtime/verify/locator.ts';
import { findNearMiss } from '../../runtime/verify/near-misses.ts';
import { rankOf } from '../../runtime/verify/rank-of.ts';
import { LazyRequest } from '../../runtime/verify/request.ts';
import { checkWindow, readTimestamp } from '../../runtime/verify/timestamp.ts';
import type { Trial } from '../../runtime/verify/trial.ts';
import { tryTrial } from '../../runtime/verify/trial.ts';
import type { VerifyReason } from '../../runtime/verify/verification.ts';
import type { SchemePlan } from '../../schemas/generated/types.ts';
import type { CapturedRequest } from './captured-request.ts';

export type Detection =
  /** The signature is right; `window` says whether it would be taken now. */
  | { readonly kind: 'match'; readonly window: VerifyReason | null }
  /** `near`: what would have to differ for the signature to match. */
  | { readonly kind: 'refused'; readonly reason: VerifyReason; readonly near: string | null }
  /** There is no secret to check with; the form matches. */
  | { readonly kind: 'unchecked'; readonly reason: VerifyReason | null; readonly window: VerifyReason | null };

export interface SourceCandidate {
  readonly source: LoweredSource;
  readonly outcome: Detection;
  /** Event type and delivery id as this source would be read. */
  readonly event: string | null;
  readonly delivery: string | null;
}

export interface DetectInput {
  readonly capture: CapturedRequest;
  /** Null: only the form is checked. */
  readonly secret: string | null;
  /** The URL as the sender has it, in place of the capture's own. */
  readonly url: string | null;
  /** Unix ms. */
  readonly now: number;
}

/** Replaces a missing secret; no signature matches it. */
const NO_SECRET = 'not the secret';

/** Best first: what matches, then what fits more of the request's headers. */
export function detect(sources: readonly LoweredSource[], input: DetectInput): SourceCandidate[] {
  const request = new LazyRequest(input.capture.parts);
  const present = sources.filter(({ plan }) => isPresent(plan, request));
  return present
    .map((source) => ({ candidate: judge(source, request, input), rank: rankOf(source.plan, request) }))
    .sort(
      (a, b) =>
        worth(b.candidate) - worth(a.candidate) ||
        b.rank - a.rank ||
        (a.candidate.source.name < b.candidate.source.name ? -1 : 1),
    )
    .map(({ candidate }) => candidate);
}

function isPresent(plan: SchemePlan, request: LazyRequest): boolean {
  if (plan.body_hash !== null && readValue(plan.body_hash.at, request) === undefined) return false;
  return plan.signature.some((at) => typeof readValue(at, request) === 'string');
}

function judge(
  source: LoweredSource,
  request: LazyRequest,
  { capture, secret, url, now }: DetectInput,
): SourceCandidate {
  const { plan } = source;
  const trial: Trial = { plan, parts: capture.parts, secret: secret ?? NO_SECRET, url: url ?? capture.url };
  const verdict = tryTrial(trial);
  const window = windowOf(plan, request, now);
  const about = {
    source,
    event: readFirst(plan.event, request, true),
    delivery: readFirst(plan.delivery, request, true),
  };
  if (verdict.ok) return { ...about, outcome: { kind: 'match', window } };
  if (secret !== null) {
    return { ...about, outcome: { kind: 'refused', reason: verdict.reason, near: findNearMiss(trial)?.says ?? null } };
  }
  const formal = verdict.reason === 'mismatch' || verdict.reason === 'unusable_secret' ? null : verdict.reason;
  return { ...about, outcome: { kind: 'unchecked', reason: formal, window } };
}

function windowOf(plan: SchemePlan, request: LazyRequest, now: number): VerifyReason | null {
  if (plan.timestamp === null) return null;
  const timestamp = readTimestamp(plan.timestamp, request);
  return typeof timestamp === 'string' ? timestamp : checkWindow(plan.timestamp, timestamp.text, now);
}

function worth({ outcome }: SourceCandidate): number {
  if (outcome.kind === 'match') return 3;
  if (outcome.kind === 'unchecked') return outcome.reason === null ? 2 : 0;
  return outcome.near === null ? 0 : 1;
}
