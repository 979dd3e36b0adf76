/** Parses the body into the payload: JSON, a form, or the format of the route's source. */
import type { Stage } from '../intake.ts';
import { MALFORMED_BODY, UNSUPPORTED_MEDIA_TYPE } from '../reply.ts';

export const parsePayload: Stage = (intake) => {
  const { payload, fault } = intake.parse();
  intake.data = payload;
  if (fault === null) return null;
  intake.reason = fault;
  return fault === 'content_type' || fault === 'content_encoding' ? UNSUPPORTED_MEDIA_TYPE : MALFORMED_BODY;
};
