/** Answers a handshake that comes by GET or HEAD: there is no signature, and no body that anybody would read. */
import type { Stage } from '../intake.ts';
import { handshakeReply, POST_ONLY } from '../reply.ts';

export const answerProbe: Stage = (intake) =>
  intake.method === 'POST' ? null : (handshakeReply(intake.route.handshake?.(intake, false) ?? null) ?? POST_ONLY);
