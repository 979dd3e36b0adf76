/** One SMTP session over nodemailer's connection: connects, logs in, sends one message and reports how far it got. */
import { Readable } from 'node:stream';
import type { NodemailerError } from 'nodemailer/lib/errors';
import type { SMTPConnectionOptions } from 'nodemailer/lib/smtp-connection';
import type { DeliveryOutcome } from '../../../runtime/deliver/deliverer.ts';
import { failed } from '../../../runtime/deliver/deliverer.ts';
import type { Clock } from '../../../runtime/platform/clock.ts';

export interface SmtpRequest {
  readonly options: SMTPConnectionOptions;
  readonly auth: { readonly user: string; readonly pass: string } | null;
  /** Null: only logs in. */
  readonly mail: { readonly from: string; readonly to: string; readonly message: Buffer } | null;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export type SmtpResult =
  | { readonly kind: 'sent' }
  | {
      readonly kind: 'failed';
      /** nodemailer's code (EAUTH, EENVELOPE, ECONNECTION, …), or our TIMEOUT or ABORTED. */
      readonly code: string;
      /** The server's reply code; 0 without a reply. */
      readonly reply: number;
      /** True once any part of the message was handed over. */
      readonly handedOver: boolean;
    };

/** Runs the session. Never rejects. */
export async function sendMail(request: SmtpRequest, clock: Clock): Promise<SmtpResult> {
  const { default: SMTPConnection } = await import('nodemailer/lib/smtp-connection');
  if (request.signal.aborted) return { kind: 'failed', code: 'ABORTED', reply: 0, handedOver: false };
  const connection = new SMTPConnection(request.options);
  const message = new WatchedMessage(request.mail?.message ?? Buffer.alloc(0));
  return new Promise((resolve) => {
    const end = (result: SmtpResult): void => {
      // Resolve first: closing emits further events, which must not decide the result.
      resolve(result);
      timer.cancel();
      request.signal.removeEventListener('abort', onAbort);
      if (result.kind === 'sent') connection.quit();
      else connection.close();
    };
    const fail = ({ code = 'UNKNOWN', responseCode = 0 }: Pick<NodemailerError, 'code' | 'responseCode'>): void =>
      end({ kind: 'failed', code, reply: responseCode, handedOver: message.started });
    const onAbort = (): void => fail({ code: 'ABORTED' });
    const timer = clock.after(request.timeoutMs, () => fail({ code: 'TIMEOUT' }));
    request.signal.addEventListener('abort', onAbort, { once: true });
    connection.on('error', fail);
    connection.on('end', () => fail({ code: 'ECONNECTION' }));
    const send = (): void => {
      const done = (error?: NodemailerError | null): void => (error ? fail(error) : end({ kind: 'sent' }));
      if (request.mail === null) done();
      else connection.send({ from: request.mail.from, to: [request.mail.to] }, message, done);
    };
    connection.connect((error) => {
      if (error !== undefined) fail(error);
      else if (request.auth === null) send();
      else connection.login({ ...request.auth }, (refused) => (refused === null ? send() : fail(refused)));
    });
  });
}

/** Records whether reading has begun: nodemailer starts to read once the server has accepted DATA. */
class WatchedMessage extends Readable {
  started = false;
  private readonly content: Buffer;

  constructor(content: Buffer) {
    super();
    this.content = content;
  }

  override _read(): void {
    this.started = true;
    this.push(this.content);
    this.push(null);
  }
}

/** Errors that no retry can fix, whatever the server replied. */
const FINAL: Readonly<Record<string, string>> = {
  EAUTH: 'the mail server rejected the login: check smtp_user and smtp_pass',
  ENOAUTH: 'the mail server requires a login: set smtp_user and smtp_pass',
  ETLS: 'no encrypted connection to the mail server: check smtp_port, smtp_secure and its certificate',
  EENVELOPE: 'the mail server rejected an address',
  EMESSAGE: 'the mail is larger than the mail server accepts',
  ECONFIG: 'the settings of the mail server are invalid',
};

/** RFC 5321: a 4xx reply is transient, a 5xx reply permanent. */
export function smtpOutcome(result: SmtpResult, messageId: string): DeliveryOutcome {
  if (result.kind === 'sent') return { kind: 'ok', message_id: messageId, sent: 1 };
  const { code, reply, handedOver } = result;
  const answered = reply === 0 ? code : `${code}, reply ${reply}`;
  if (reply >= 400 && reply < 500) return failed('retry', `the mail server asked to retry later (${answered})`);
  const final = Object.hasOwn(FINAL, code) ? FINAL[code] : undefined;
  if (reply >= 500) return failed('permanent', `${final ?? 'the mail server rejected the mail'} (${answered})`);
  if (final !== undefined) return failed('permanent', `${final} (${answered})`);
  if (handedOver)
    return failed('ambiguous', `the mail server did not confirm the sent mail, which may have arrived (${answered})`);
  return failed('retry', `the mail server is unreachable (${answered})`);
}
