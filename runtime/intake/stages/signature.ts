/** Authenticates the sender. The cause of a failure is only logged; the answer is the same for all causes (§5). */
import type { Stage } from '../intake.ts';
import { INVALID_SIGNATURE } from '../reply.ts';

export const verifySignature: Stage = (intake, { bodies, warnDeprecated }) => {
  const { route } = intake;
  const verification = route.authenticator.authenticate(intake, intake.receivedAt);
  intake.scheme = verification.scheme ?? '';
  if (!verification.ok) {
    intake.reason = verification.reason;
    return INVALID_SIGNATURE;
  }
  bodies.release(intake.request);
  intake.authenticated = true;
  intake.secret = verification.secret;
  if (route.deprecated.size > 0) warnDeprecated(route, verification.scheme);
  return null;
};
