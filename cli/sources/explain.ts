/** Explains why a verifier refused a request; for the terminal, never for senders. */
import type { LoweredSource } from '../../compiler/lower/default-sources.ts';
import { describeWindow } from '../../compiler/sources/describe-source.ts';
import { commonName } from '../../compiler/text/common-name.ts';
import { REASON_TEXTS } from '../../runtime/verify/reason-texts.ts';
import type { Detection, SourceCandidate } from './detect.ts';

/** One line about a candidate. */
export function explainOutcome(outcome: Detection, { file }: LoweredSource): string {
  if (outcome.kind === 'match') {
    if (outcome.window === null) return 'matches';
    return `matches, but ${REASON_TEXTS[outcome.window]} (window: ${describeWindow(file) ?? 'none'})`;
  }
  if (outcome.kind === 'unchecked') {
    return outcome.reason === null ? 'has the right form; give --secret to check it' : REASON_TEXTS[outcome.reason];
  }
  return outcome.near === null ? REASON_TEXTS[outcome.reason] : `would match, but ${outcome.near}`;
}

/** What to write into the configuration, if that is known. */
export function adviseRoute(
  { source, outcome, event, delivery }: SourceCandidate,
  candidates: readonly SourceCandidate[],
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
