/** Answers with the response that a route or its source sets for an outcome. */
import type { Intake } from './intake.ts';
import type { Reply } from './reply.ts';
import { replyAs } from './reply.ts';
import { answeredEvent } from './stages/decide.ts';

/** The reply that is sent. Only the default one is data for logs and programs. */
export function respondAs(intake: Intake, reply: Reply): Reply {
  const response = intake.route.respond?.[reply.outcome];
  if (response === undefined) return reply;
  const { event: event_type, ...others } = answeredEvent(intake);
  const body = response.body?.(intake.data, { ...others, event_type, status_url: intake.statusUrl });
  return replyAs(reply, response, body?.text ?? null);
}
