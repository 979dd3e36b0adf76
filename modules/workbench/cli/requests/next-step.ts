/** What to do about a request that was not accepted: a text for each reason, with the command that helps. */

import type { OtherReason } from '../../../../runtime/intake/reason-codes.ts';
import type { Outcome } from '../../../../runtime/intake/reply.ts';
import type { VerifyReason } from '../../../../runtime/verify/verification.ts';
import type { KeptRequest } from '../../../../schemas/built/operations/types.ts';
import type { FoundCause } from '../../runtime/causes/find-cause.ts';
import STEPS from './next-steps.json' with { type: 'json' };

/** A kept request, and whether its route is a subscription: then a command shows its secret. */
export interface AskedRequest extends KeptRequest {
  readonly isSubscription: boolean;
}

/** A text with the placeholders of `fill`; null: there is nothing to do, or another table says what. */
type Steps<Code extends string> = Readonly<Record<Code, string | null>>;

/** By cause of a refused signature; docs/why-ignored.md explains each. */
export const CAUSES: Steps<VerifyReason | FoundCause> = STEPS.causes;
/** By reason of other refusals. */
const REASONS: Steps<OtherReason> = STEPS.reasons;
const OUTCOMES: Steps<Outcome> = STEPS.outcomes;

/** Null if nothing has to be done. */
export function nextStep(request: AskedRequest): string | null {
  const { cause, reason, outcome, dispatch_id } = request;
  if (cause !== null) return fill(textOf(CAUSES, cause.code) ?? STEPS.causes.unknown, request);
  const text = textOf(REASONS, reason) ?? textOf(OUTCOMES, outcome);
  if (text !== null) return fill(text, request);
  return dispatch_id === null ? null : `what became of it: hookwright deliveries show ${dispatch_id}`;
}

const textOf = (texts: Steps<string>, code: string | null): string | null =>
  code !== null && Object.hasOwn(texts, code) ? (texts[code] ?? null) : null;

function fill(text: string, request: AskedRequest): string {
  const { route, id, event, delivery_id } = request;
  const values: Readonly<Record<string, string>> = {
    route,
    id,
    event,
    delivery_id,
    secret: whereSecretIs(request),
    source: sourceLine(request),
    delivery: deliveryCommand(request),
  };
  return text.replace(/\{(\w+)\}/g, (_all, name: string) => values[name] ?? '');
}

const whereSecretIs = ({ route, isSubscription }: AskedRequest): string =>
  isSubscription
    ? `\`hookwright webhook show ${route} --reveal\` shows it`
    : `\`secret\` of route ${route}, else the one for all routes, says where it is`;

/** `set \`source: linear\``, where the headers say which. */
function sourceLine({ about }: AskedRequest): string {
  const names = about?.kind === 'signature' ? about.other_sources : [];
  if (names.length === 0) return 'set `source:` (hookwright source list)';
  return `set ${names.map((name) => `\`source: ${name}\``).join(' or ')}`;
}

const deliveryCommand = ({ dispatch_id }: AskedRequest): string =>
  dispatch_id === null ? 'hookwright doctor checks the target' : `hookwright deliveries show ${dispatch_id}`;
