/** Reads the body: refused at the byte that goes past the limit, or when strangers hold all the memory they may. */
import type { BodyFault } from '../body.ts';
import type { Intake, Services, Stage } from '../intake.ts';
import type { Reply } from '../reply.ts';
import { ABORTED, PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT, retryLater } from '../reply.ts';

/** When memory may be free again, in seconds: bodies that stand still are given up by then. */
const FULL_SECONDS = 5;

const REPLIES: Readonly<Record<BodyFault, Reply>> = {
  too_large: PAYLOAD_TOO_LARGE,
  overloaded: retryLater('overloaded', FULL_SECONDS),
  too_slow: REQUEST_TIMEOUT,
  aborted: ABORTED,
};

export const receiveBody: Stage = (intake, { bodies }) => {
  if (intake.request.awaitsContinue) {
    intake.request.awaitsContinue = false;
    intake.response.writeContinue();
  }
  return takeBody(intake, bodies);
};

async function takeBody(intake: Intake, bodies: Services['bodies']): Promise<Reply | null> {
  const body = await bodies.read(intake.request, intake.route.limits.maxBodyBytes);
  if (typeof body === 'string') {
    if (body === 'overloaded' || body === 'too_slow') intake.reason = `body_${body}`;
    return REPLIES[body];
  }
  intake.body = body;
  return null;
}
