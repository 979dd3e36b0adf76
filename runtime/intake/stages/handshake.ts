/** The stages that answer handshakes of a source. */

import { isTokenCheck } from '../../verify/handshake.ts';
import type { Stage } from '../intake.ts';
import { OTHER_REASON_TEXTS } from '../reason-codes.ts';
import { handshakeReply, POST_ONLY } from '../reply.ts';

const answerer =
  (signed: boolean): Stage =>
  (intake) =>
    handshakeReply(intake.route.handshake?.(intake, signed) ?? null);

/** Answers a handshake that is not signed. */
export const answerHandshake = answerer(false);

/** Answers a handshake of a source that is signed like an event. */
export const answerChallenge = answerer(true);

/** Answers a handshake sent with GET or HEAD, which has no signature; a body is ignored. */
export const answerProbe: Stage = (intake) => {
  if (intake.method === 'POST') return null;
  const { route } = intake;
  const reply = handshakeReply(route.handshake?.(intake, false) ?? null);
  if (reply !== null) return reply;
  if (isTokenCheck(route.authenticator.schemes, intake)) {
    intake.reason = route.plan.verify_token === null ? 'no_verify_token' : 'wrong_verify_token';
    intake.detail = OTHER_REASON_TEXTS[intake.reason];
  }
  return POST_ONLY;
};
