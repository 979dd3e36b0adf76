/** Reads the settings of the `email` target: the server, its encryption and login, and the sender. */
import type { SMTPConnectionOptions } from 'nodemailer/lib/smtp-connection';
import type { BoundTarget } from '../../../runtime/deliver/driver.ts';

export interface MailSender {
  readonly name: string;
  readonly address: string;
  /** As configured. */
  readonly text: string;
}

export interface SmtpServer {
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

/** Returns the server, or which setting is wrong. */
export function readSmtpServer({ settings, binding }: BoundTarget): SmtpServer | string {
  const host = settings.get('smtp_host') ?? '';
  const port = Number(settings.get('smtp_port') ?? 587);
  if (!Number.isInteger(port) || port < 1 || port > 65535) return 'smtp_port is no port';
  const written = settings.get('smtp_secure') ?? (port === 465 ? 'tls' : 'starttls');
  const security = Object.hasOwn(SECURITY, written) ? SECURITY[written] : undefined;
  if (security === undefined) return 'smtp_secure is one of tls, starttls, none';
  const local = LOOPBACK.test(host);
  if (security === 'none' && !local && !binding.allow_http) {
    return 'smtp_secure: none sends mail and password unencrypted to another machine; allow that with allow_http: true';
  }
  const from = readSender(settings.get('from') ?? '');
  if (from === null) return 'from is no mail address';
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
