/** Answers a handshake of a source that is signed like an event. */
import type { Stage } from '../intake.ts';
import { handshakeReply } from '../reply.ts';

export const answerChallenge: Stage = (intake) => {
  const { handshake } = intake.route;
  return handshake === null ? null : handshakeReply(handshake(intake, true));
};
