/**
 * Refuses a request without any credential before its body takes memory: no scheme of the route finds a signature or token
 * in headers or query, and none has it in the body. The signature stage checks the others.
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
