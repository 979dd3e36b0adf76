/** Refuses a body by its declared length, before it is read. */
import type { Stage } from '../intake.ts';
import { PAYLOAD_TOO_LARGE } from '../reply.ts';

export const checkSize: Stage = ({ headers, route }) =>
  Number(headers['content-length'] ?? 0) > route.limits.maxBodyBytes ? PAYLOAD_TOO_LARGE : null;
