/** Derives the outcome of a delivery from the result of an SMTP session. */
import type { DeliveryOutcome } from '../deliverer.ts';
import { failed } from '../deliverer.ts';
import type { SmtpResult } from './smtp-session.ts';

/** Errors that a retry cannot fix, whatever the server replied. */
const FINAL: Readonly<Record<string, string>> = {
  EAUTH: 'the mail server refused the login: check smtp_user and smtp_pass',
  ENOAUTH: 'the mail server wants a login: set smtp_user and smtp_pass',
  ETLS: 'no encrypted connection to the mail server: check smtp_port, smtp_secure and its certificate',
  EENVELOPE: 'the mail server refused an address',
  EMESSAGE: 'the mail is larger than the mail server takes',
  ECONFIG: 'the settings of the mail server are wrong',
};

/** RFC 5321: a 4xx reply is transient, a 5xx reply permanent. */
export function smtpOutcome(result: SmtpResult, messageId: string): DeliveryOutcome {
  if (result.kind === 'sent') return { kind: 'ok', message_id: messageId, sent: 1 };
  const { code, reply, handedOver } = result;
  const answered = reply === 0 ? code : `${code}, reply ${reply}`;
  if (reply >= 400 && reply < 500) return failed('retry', `the mail server asks to come back later (${answered})`);
  const final = Object.hasOwn(FINAL, code) ? FINAL[code] : undefined;
  if (reply >= 500) return failed('permanent', `${final ?? 'the mail server refused the mail'} (${answered})`);
  if (final !== undefined) return failed('permanent', `${final} (${answered})`);
  if (handedOver) return failed('ambiguous', `no answer after the mail was handed over (${answered})`);
  return failed('retry', `the mail server cannot be reached (${answered})`);
}
