/** The details of a reason as fields of a log line. */
import type { LogFields } from '../platform/log.ts';
import type { Intake } from './intake.ts';
import type { SignatureReason } from './reason.ts';
import { reasonOf } from './reason.ts';

/** Empty when the code says everything. @param kept id under which the request is kept; null when it is not */
export function reasonFields(intake: Intake, kept: string | null): LogFields {
  const about = reasonOf(intake)?.about ?? null;
  switch (about?.kind) {
    case undefined:
      return {};
    case 'text':
      return { detail: about.text };
    case 'event':
      return { accepts: about.accepts };
    case 'filter':
      return { filter: about.at, field: about.field, operator: about.operator, found: about.found };
    case 'signature':
      return signatureFields(about, kept === null ? HINT : `hookwright requests show ${kept}`);
  }
}

const HINT =
  'save such a request and run: hookwright explain <route> --payload @<file>, or hookwright source detect <file>';

function signatureFields({ lookedFor, otherSources, ageSeconds, sent }: SignatureReason, hint: string): LogFields {
  const age = ageSeconds === null ? {} : { age_seconds: ageSeconds };
  const isNamed = sent.event !== null || sent.deliveryId !== null;
  const unverified = isNamed ? { unverified: { event: sent.event, delivery_id: sent.deliveryId } } : {};
  return { looked_for: lookedFor, ...age, ...unverified, hint: sourceHint(otherSources) + hint };
}

/** A route without `source:` accepts only a few schemes; other senders must be named. */
function sourceHint(names: readonly string[]): string {
  if (names.length === 0) return '';
  const sources = names.map((name) => `\`source: ${name}\``).join(' or ');
  return `it looks as ${names.join(' or ')} sends it: set ${sources} if that is the sender; `;
}
