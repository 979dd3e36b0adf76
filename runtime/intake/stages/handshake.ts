/** Answers a handshake that carries the secret itself, before the signature check. */
import type { Stage } from '../intake.ts';
import { handshakeReply } from '../reply.ts';

export const answerHandshake: Stage = (intake) => {
  const { handshake } = intake.route;
  return handshake === null ? null : handshakeReply(handshake(intake, false));
};
