/** The stages that answer handshakes of a source. */

import { isTokenCheck } from '../../verify/handshake.ts';
import type { Stage } from '../intake.ts';
import { handshakeReply, POST_ONLY } from '../reply.ts';

export const answerHandshake: Stage = (intake) => {
  const { handshake } = intake.route;
  return handshake === null ? null : handshakeReply(handshake(intake, false));
};

/** Answers a handshake of a source that is signed like an event. */
export const answerChallenge: Stage = (intake) => {
  const { handshake } = intake.route;
  return handshake === null ? null : handshakeReply(handshake(intake, true));
};

/** Answers a handshake sent with GET or HEAD, which has no signature; a body is ignored. */
export const answerProbe: Stage = (intake) => {
  if (intake.method === 'POST') return null;
  const { route } = intake;
  const reply = handshakeReply(route.handshake?.(intake, false) ?? null);
  if (reply !== null) return reply;
  if (isTokenCheck(route.authenticator.schemes, intake)) {
    intake.reason = route.plan.verify_token === null ? 'no_verify_token' : 'wrong_verify_token';
    intake.detail = DETAILS[intake.reason];
  }
  return POST_ONLY;
};

const DETAILS = {
  no_verify_token: 'the sender checks the URL with a token, and the route has no `verify_token`',
  wrong_verify_token: 'the sender checks the URL with another token than `verify_token` of the route',
};
