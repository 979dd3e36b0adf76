/**
 * The `email` target: one plain text mail per delivery, over SMTP with TLS.
 *
 * Port 465 uses TLS from the start; every other port must offer STARTTLS. Only a server on this machine may omit TLS or
 * use a self-signed certificate.
 */

import type { SMTPConnectionOptions } from 'nodemailer/lib/smtp-connection';
import { isBlank } from '../../../base/text.ts';
import type { Address, ResolveAddress } from '../../../runtime/deliver/address.ts';
import { linkAddress } from '../../../runtime/deliver/address.ts';
import type {
  Addressed,
  BoundTarget,
  CreateDriver,
  DeliveryContext,
  DeliveryOutcome,
  DeliveryRequest,
  Driver,
  Probe,
  ProbeOptions,
  ShownDelivery,
} from '../../../runtime/deliver/deliverer.ts';
import { notLive, probed, probeFailed } from '../../../runtime/deliver/deliverer.ts';
import { idempotencyKey } from '../../../runtime/deliver/http/link-variant.ts';
import { DeliveryRefusal } from '../../../runtime/deliver/http/values.ts';
import { transformText } from '../../../runtime/deliver/prepare-text.ts';
import type { SmtpRequest, SmtpResult } from './smtp-session.ts';
import { sendMail, smtpOutcome } from './smtp-session.ts';

export const createEmailDriver: CreateDriver = (target, context) => {
  const server = readSmtpServer(target);
  return typeof server === 'string' ? server : new EmailDriver(target, server, context);
};

const TIMEOUT_MS = 60_000;

/** Maximum length of a subject, in code points; a line of a mail has at most 998 bytes. */
const MAX_SUBJECT = 200;

interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly messageId: string;
  /** Message-ID of the mail that this one replies to. */
  readonly thread: string | null;
  readonly marker: string;
}

class EmailDriver implements Driver {
  private readonly target: BoundTarget;
  private readonly server: SmtpServer;
  private readonly context: DeliveryContext;
  private readonly resolveAddress: ResolveAddress;

  constructor(target: BoundTarget, server: SmtpServer, context: DeliveryContext) {
    this.target = target;
    this.server = server;
    this.context = context;
    this.resolveAddress = linkAddress(target.plan.address, target.homeChannel);
  }

  chatId(request: Addressed): string | null {
    const address = this.resolveAddress(request);
    return typeof address === 'string' ? null : (address.get('chat_id') ?? null);
  }

  refusal(request: Addressed): string | null {
    const recipient = this.recipientOf(request);
    return typeof recipient === 'string' ? recipient : null;
  }

  async show(request: DeliveryRequest): Promise<readonly ShownDelivery[]> {
    const mail = this.compose(request);
    const headers = { from: this.server.from.text, to: mail.to, subject: mail.subject, 'message-id': mail.messageId };
    return [{ kind: 'mail', headers, text: mail.text }];
  }

  async deliver(request: DeliveryRequest): Promise<DeliveryOutcome> {
    const mail = this.compose(request);
    const content = { from: this.server.from.address, to: mail.to, message: await this.build(mail) };
    return smtpOutcome(await this.talk(content, request.signal), mail.messageId);
  }

  async probe({ live, signal }: ProbeOptions): Promise<readonly Probe[]> {
    if (!live) return [notLive('mail server')];
    const { host, port } = this.server.options;
    const outcome = smtpOutcome(await this.talk(null, signal), '');
    if (outcome.kind === 'ok') return [probed('mail server', `${host}:${port} responds and accepts the login`)];
    const fix = 'check smtp_host, smtp_port, smtp_secure and the login';
    return [probeFailed('mail server', `${host}:${port}: ${outcome.reason}`, fix)];
  }

  private talk(mail: SmtpRequest['mail'], signal: AbortSignal): Promise<SmtpResult> {
    const { options, auth } = this.server;
    return sendMail({ options, auth, mail, timeoutMs: TIMEOUT_MS, signal }, this.context.clock);
  }

  private compose(request: DeliveryRequest): Mail {
    const recipient = this.recipientOf(request);
    if (typeof recipient === 'string') throw new DeliveryRefusal(recipient);
    const { to, address } = recipient;
    const text = transformText(request.text, ['strip_controls']);
    if (isBlank(text)) throw new DeliveryRefusal('the text is empty');
    const key = idempotencyKey({ form: 'hex', max_length: 40, window_ms: 0 }, request.key, 0);
    const domain = this.server.from.address.split('@').at(-1) ?? 'localhost';
    return {
      to,
      subject: oneLine(address.get('subject') ?? this.usualSubject(request)),
      text,
      messageId: `<${key}@${domain}>`,
      thread: address.get('thread') ?? null,
      marker: request.marker ?? '',
    };
  }

  private recipientOf(request: Addressed): { readonly to: string; readonly address: Address } | string {
    const address = this.resolveAddress(request);
    if (typeof address === 'string') return address;
    const to = address.get('chat_id');
    return to === undefined ? 'no chat_id and no home_channel' : { to, address };
  }

  private usualSubject(request: DeliveryRequest): string {
    const template = this.target.settings.get('usual_subject') ?? '{route}';
    const { route, profile, delivery_id } = request;
    const values: Readonly<Record<string, string>> = { route, profile, delivery_id };
    return template.replace(/\{(route|profile|delivery_id)\}/g, (_, name: string) => values[name] ?? '');
  }

  private async build(mail: Mail): Promise<Buffer> {
    const { default: MailComposer } = await import('nodemailer/lib/mail-composer');
    const thread = mail.thread === null ? {} : { inReplyTo: mail.thread, references: [mail.thread] };
    const composer = new MailComposer({
      from: { name: this.server.from.name, address: this.server.from.address },
      // An object, because a string would be parsed as a list of addresses.
      to: { name: '', address: mail.to },
      subject: mail.subject,
      text: mail.text,
      messageId: mail.messageId,
      date: new Date(this.context.clock.now()),
      headers: { 'Auto-Submitted': 'auto-generated', ...marked(mail.marker) },
      disableFileAccess: true,
      disableUrlAccess: true,
      ...thread,
    });
    return composer.compile().build();
  }
}

const marked = (marker: string): Record<string, string> => (marker === '' ? {} : { 'X-Hookwright': marker });

function oneLine(text: string): string {
  const line = text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
  return [...line].slice(0, MAX_SUBJECT).join('');
}

interface MailSender {
  readonly name: string;
  readonly address: string;
  /** As configured. */
  readonly text: string;
}

interface SmtpServer {
  readonly options: SMTPConnectionOptions;
  readonly auth: { readonly user: string; readonly pass: string } | null;
  readonly from: MailSender;
}

type Security = 'tls' | 'starttls' | 'none';

const SECURITY: Readonly<Record<string, Security>> = {
  tls: 'tls',
  true: 'tls',
  starttls: 'starttls',
  false: 'starttls',
  none: 'none',
};

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/;
const SENDER = /^(?:"?([^"<>]*?)"?\s*<)?([^\s<>"@,;:]+@[^\s<>"@,;:]+)>?$/;

const TIMEOUTS = {
  connectionTimeout: 10_000,
  greetingTimeout: 10_000,
  socketTimeout: 30_000,
  dnsTimeout: 10_000,
  socketCloseTimeout: 1000,
};

/** Returns the server, or an error that names the wrong setting. */
export function readSmtpServer({ settings, binding }: BoundTarget): SmtpServer | string {
  const host = settings.get('smtp_host') ?? '';
  const port = Number(settings.get('smtp_port') ?? 587);
  if (!Number.isInteger(port) || port < 1 || port > 65535) return 'smtp_port must be a port number (1 to 65535)';
  const written = settings.get('smtp_secure') ?? (port === 465 ? 'tls' : 'starttls');
  const security = Object.hasOwn(SECURITY, written) ? SECURITY[written] : undefined;
  if (security === undefined) return 'smtp_secure must be tls, starttls or none';
  const local = LOOPBACK.test(host);
  if (security === 'none' && !local && !binding.allow_http) {
    return 'smtp_secure: none sends mail and password unencrypted to another machine; set allow_http: true to allow it';
  }
  const from = readSender(settings.get('from') ?? '');
  if (from === null) return 'from must be a mail address';
  const user = settings.get('smtp_user');
  const ca = settings.get('smtp_ca');
  const options: SMTPConnectionOptions = {
    host,
    port,
    ...TIMEOUTS,
    secure: security === 'tls',
    requireTLS: security === 'starttls' && !local,
    ignoreTLS: security === 'none',
    logger: false,
    debug: false,
    tls: { rejectUnauthorized: !local || ca !== undefined, ...(ca === undefined ? {} : { ca }) },
  };
  return { options, auth: user === undefined ? null : { user, pass: settings.get('smtp_pass') ?? '' }, from };
}

function readSender(text: string): MailSender | null {
  const match = SENDER.exec(text.trim());
  return match === null ? null : { name: match[1]?.trim() ?? '', address: match[2] ?? '', text };
}
