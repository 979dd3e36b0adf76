/** Answers a source's handshake that brings the secret itself, before there is a signature to check. */
import type { Stage } from '../intake.ts';

export const answerHandshake: Stage = (intake) => {
  const { handshake } = intake.route;
  return handshake === null ? null : handshake(intake, false);
};
