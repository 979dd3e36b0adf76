/**
 * Refuses a request that carries nothing its sender could be known by, before its body takes memory: no signature or token
 * of any scheme of the route in a header or the query, where none of them has it in the body. What carries one is read, and
 * checked by the signature stage.
 */
import type { Stage } from '../intake.ts';
import { INVALID_SIGNATURE } from '../reply.ts';

export const requireCredential: Stage = (intake) => {
  const { authenticator, awaitsSecret } = intake.route;
  const refused = authenticator.refuseUnsigned(intake);
  if (refused === null || awaitsSecret?.(intake) === true) return null;
  intake.scheme = refused.scheme ?? '';
  intake.reason = refused.reason;
  return INVALID_SIGNATURE;
};
