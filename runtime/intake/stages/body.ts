/** The stages that read the body and parse it. */

import { printableStart } from '../../platform/printable.ts';
import type { BodyFault } from '../body.ts';
import type { Intake, Stage } from '../intake.ts';
import { parseJson } from '../parse-json.ts';
import type { Reply } from '../reply.ts';
import {
  ABORTED,
  JSON_AS_FORM,
  MALFORMED_BODY,
  PAYLOAD_TOO_LARGE,
  REQUEST_TIMEOUT,
  retryLater,
  UNSUPPORTED_MEDIA_TYPE,
} from '../reply.ts';

/** Retry time in seconds: by then, stalled bodies have been dropped and their memory is free. */
const FULL_SECONDS = 5;

const REPLIES: Readonly<Record<BodyFault, Reply>> = {
  too_large: PAYLOAD_TOO_LARGE,
  overloaded: retryLater('overloaded', FULL_SECONDS),
  too_slow: REQUEST_TIMEOUT,
  aborted: ABORTED,
};

export const receiveBody: Stage = async (intake, { bodies }) => {
  if (intake.request.awaitsContinue) {
    intake.request.awaitsContinue = false;
    intake.response.writeContinue();
  }
  const body = await bodies.read(intake.request, intake.route.limits.maxBodyBytes);
  if (typeof body === 'string') {
    if (body === 'overloaded' || body === 'too_slow') intake.reason = `body_${body}`;
    return REPLIES[body];
  }
  intake.body = body;
  return null;
};

/** Parses the body into the payload: JSON, a form, or the format of the route's source. */
export const parsePayload: Stage = (intake) => {
  const { payload, fault } = intake.parse();
  intake.data = payload;
  if (fault === null) return null;
  intake.reason = fault;
  if (fault === 'no_form' && parseJson(intake.body).ok) {
    intake.detail = `the body is JSON, and its content type ${typeOf(intake)}: the sender needs Content-Type: application/json`;
    return JSON_AS_FORM;
  }
  if (fault === 'content_type') intake.detail = `the content type is ${typeOf(intake)}`;
  return fault === 'content_type' || fault === 'content_encoding' ? UNSUPPORTED_MEDIA_TYPE : MALFORMED_BODY;
};

/** Longest content type that is shown, in UTF-16 units. */
const TYPE_LIMIT = 128;

const typeOf = ({ headers }: Intake): string => printableStart(headers['content-type'] ?? 'missing', TYPE_LIMIT);
