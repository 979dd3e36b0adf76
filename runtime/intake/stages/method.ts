/** Refuses any method but POST, except where a source's handshake uses another. */
import type { Stage } from '../intake.ts';
import { POST_ONLY } from '../reply.ts';

export const checkMethod: Stage = ({ method, route }) => {
  if (method === 'POST') return null;
  return route.handshake !== null && (method === 'GET' || method === 'HEAD') ? null : POST_ONLY;
};
