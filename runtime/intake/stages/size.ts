/** Reads the body: refused by its declared length before it is sent, or at the byte that goes past the limit. */
import { readBody } from '../body.ts';
import type { Intake, Stage } from '../intake.ts';
import type { Reply } from '../reply.ts';
import { ABORTED, PAYLOAD_TOO_LARGE } from '../reply.ts';

export const checkSize: Stage = (intake) => {
  const limit = intake.route.limits.maxBodyBytes;
  if (Number(intake.headers['content-length'] ?? 0) > limit) return PAYLOAD_TOO_LARGE;
  if (intake.request.awaitsContinue) {
    intake.request.awaitsContinue = false;
    intake.response.writeContinue();
  }
  return takeBody(intake, limit);
};

async function takeBody(intake: Intake, limit: number): Promise<Reply | null> {
  const body = await readBody(intake.request, limit);
  if (body === 'too_large') return PAYLOAD_TOO_LARGE;
  if (body === 'aborted') return ABORTED;
  intake.body = body;
  return null;
}
