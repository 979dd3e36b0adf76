/**
 * Refuses a request that carries nothing its sender could be known by, before its body takes memory: no signature or token
 * of any scheme of the route in a header or the query, where none of them has it in the body. What carries one is read, and
 * checked by the signature stage.
 */
import type { Stage } from '../intake.ts';
import { INVALID_SIGNATURE } from '../reply.ts';

export const requireCredential: Stage = (intake) => {
  const { authenticator, awaitsSecret } = intake.route;
  const verdict = authenticator.refuseUnsigned(intake);
  if (verdict === null || awaitsSecret?.(intake) === true) return null;
  intake.scheme = verdict.scheme ?? '';
  intake.reason = verdict.reason;
  return INVALID_SIGNATURE;
};
