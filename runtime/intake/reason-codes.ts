/** All reason codes. Stages store them in the intake, and captured requests can be searched by them. */
import type { Refusal } from '../dispatch/dispatcher.ts';
import type { VerifyReason } from '../verify/verification.ts';
import { REASON_TEXTS } from '../verify/verification.ts';
import { ERRORS } from './built/errors.ts';
import { OTHER_REASON_TEXTS as TEXTS } from './built/reasons.ts';
import type { BodyFormatFault } from './parse-body.ts';
import type { IgnoredReason } from './reply.ts';

export type ReasonCode = VerifyReason | OtherReason;

/** Reason codes other than the verifier's. */
export type OtherReason = keyof typeof OTHER_REASON_TEXTS;

/** Reason codes defined in other files. */
type SharedReason = IgnoredReason | BodyFormatFault | Extract<Refusal, { readonly kind: 'overloaded' }>['reason'];

/** Texts for operators. */
export const OTHER_REASON_TEXTS = TEXTS satisfies Record<SharedReason, string>;

export const REASON_CODES: readonly string[] = [
  ...Object.keys(REASON_TEXTS),
  ...Object.keys(OTHER_REASON_TEXTS),
].sort();

const CODES = Object.keys(ERRORS) as (keyof typeof ERRORS)[];
const isFailure = (code: keyof typeof ERRORS): boolean => ERRORS[code].status >= 500;
/** The error codes of outcomes: those of senders, and those of the gateway and its targets. */
export const ERROR_GROUPS = { rejected: CODES.filter((code) => !isFailure(code)), failed: CODES.filter(isFailure) };
