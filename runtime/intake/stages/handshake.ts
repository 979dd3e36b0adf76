/** Answers a source's handshake that brings the secret itself, before there is a signature to check. */
import type { Stage } from '../intake.ts';
import { handshakeReply } from '../reply.ts';

export const answerHandshake: Stage = (intake) => {
  const { handshake } = intake.route;
  return handshake === null ? null : handshakeReply(handshake(intake, false));
};
