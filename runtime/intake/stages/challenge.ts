/** Answers a source's handshake that comes signed like an event. */
import type { Stage } from '../intake.ts';

export const answerChallenge: Stage = (intake) => {
  const { handshake } = intake.route;
  return handshake === null ? null : handshake(intake, true);
};
