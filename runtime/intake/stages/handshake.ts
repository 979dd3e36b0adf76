/** Answers a source's handshake that comes unsigned, before there is a signature to check. */
import type { Stage } from '../intake.ts';
import { POST_ONLY } from '../reply.ts';

export const answerHandshake: Stage = (intake) => {
  const { handshake } = intake.route;
  const reply = handshake === null ? null : handshake(intake, false);
  return reply === null && intake.method !== 'POST' ? POST_ONLY : reply;
};
