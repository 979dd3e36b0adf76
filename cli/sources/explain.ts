/** Says in words why a verifier refused a request: for people at a terminal, never for senders. */
import type { LoweredSource } from '../../compiler/lower/default-sources.ts';
import { commonName, describeWindow } from '../../compiler/sources/describe-source.ts';
import type { VerifyReason } from '../../runtime/verify/verdict.ts';
import type { Candidate, Outcome } from './detect.ts';

export const REASON_TEXTS: Readonly<Record<VerifyReason, string>> = {
  missing_signature: 'the request carries no signature of this source',
  missing_credential: 'the request carries no token of this source',
  malformed_signature: 'the signature has not the form this source uses (prefix, encoding, length)',
  unknown_version: 'the header holds signatures, but none of the version this source uses',
  stronger_scheme: 'it also carries headers of a stronger scheme, which must be used then',
  repeated_header: 'a header that is signed, or signs, is there twice',
  oversized_header: 'the header is longer than any signature',
  too_many_parts: 'the header lists more signatures than any sender',
  missing_timestamp: 'the signed timestamp is missing',
  ambiguous_timestamp: 'there is more than one timestamp',
  bad_timestamp: 'the timestamp is not of the unit this source uses',
  stale_timestamp: 'the timestamp is too old by now',
  future_timestamp: 'the timestamp lies in the future',
  missing_id: 'the signed id is missing',
  unreadable_body: 'this source signs parts of the body, which cannot be parsed',
  mismatch: 'the signature is not right under this secret',
  body_mismatch: 'the body is not the one whose digest was signed',
  unusable_secret: 'the secret has not the form of a key of this source',
  no_public_url: 'this source signs the URL: say which with --url',
};

/** One line about a candidate. */
export function explainOutcome(outcome: Outcome, { file }: LoweredSource): string {
  if (outcome.kind === 'match') {
    if (outcome.window === null) return 'matches';
    return `matches, but ${REASON_TEXTS[outcome.window]} (window: ${describeWindow(file) ?? 'none'})`;
  }
  if (outcome.kind === 'unchecked') {
    return outcome.reason === null ? 'has the right form; give --secret to check it' : REASON_TEXTS[outcome.reason];
  }
  return outcome.near === null ? REASON_TEXTS[outcome.reason] : `would match, but ${outcome.near}`;
}

/** What to write into the config, when something is settled. */
export function adviseRoute(
  { source, outcome, event, delivery }: Candidate,
  candidates: readonly Candidate[],
): string | null {
  const fits = outcome.kind === 'match' || (outcome.kind === 'unchecked' && outcome.reason === null);
  if (!fits) return null;
  const name = commonName(source.name, source.file);
  const others = candidates.filter(
    (each) => each !== candidates[0] && each.outcome.kind === outcome.kind && each.outcome.kind === 'match',
  );
  const about = [event === null ? null : `event ${event}`, delivery === null ? null : `delivery ${delivery}`].filter(
    (text) => text !== null,
  );
  const read = about.length === 0 ? '' : ` It reads ${about.join(' and ')} from this request.`;
  const same =
    others.length === 0 ? '' : ` ${others.length} more verify the same signature and differ in what they read.`;
  return `On the route: source: ${name}.${read}${same}`;
}
