/**
 * The TLS settings of a database URL, with the meaning that they have in libpq. The driver interprets them differently
 * (`require` as `verify-full`), so they are removed from the URL and passed as options of Node.js.
 *
 * | sslmode       | encrypted    | certificate checked           | host name checked |
 * | ------------- | ------------ | ----------------------------- | ----------------- |
 * | `disable`     | no           |                               |                   |
 * | `prefer`      | if possible  | no                            | no                |
 * | `require`     | yes          | where `sslrootcert` is given  | no                |
 * | `verify-ca`   | yes          | yes                           | no                |
 * | `verify-full` | yes          | yes                           | yes               |
 */
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { messageOf } from '../../../../base/message-of.ts';
import { StoreRefused } from '../../../../runtime/store/store.ts';

export interface TlsPlan {
  /** The URL without the settings that are in `tls`. */
  readonly url: string;
  /** Null: not encrypted. */
  readonly tls: ConnectionOptions | null;
  /** Whether to connect without encryption when the server has no TLS. */
  readonly isOptional: boolean;
}

const MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
type Mode = (typeof MODES)[number];

/** Settings of libpq that would be silently ignored. */
const UNSUPPORTED = ['sslcrl', 'sslcrldir', 'sslcertmode', 'requiressl'];

/** Plans the connection, and reads the files that the URL names. @throws StoreRefused for settings that cannot be used */
export function planTls(url: string): TlsPlan {
  const parsed = new URL(url);
  const take = (name: string): string | null => {
    const value = parsed.searchParams.get(name);
    parsed.searchParams.delete(name);
    return value === '' ? null : value;
  };
  for (const name of UNSUPPORTED) {
    if (parsed.searchParams.has(name)) throw refused(`${name} is not supported`);
  }
  const files = { ca: take('sslrootcert'), cert: take('sslcert'), key: take('sslkey') };
  const mode = modeOf(take('sslmode') ?? (take('ssl') === 'true' ? 'require' : 'prefer'));
  const [passphrase, minVersion] = [take('sslpassword'), take('ssl_min_protocol_version')];
  // As in libpq, a Unix socket is never encrypted.
  if (mode === 'disable' || isSocket(parsed)) return { url: parsed.href, tls: null, isOptional: false };
  const tls: ConnectionOptions = {
    ...checksOf(mode, files.ca),
    ...(files.cert === null ? {} : { cert: readPem('sslcert', files.cert) }),
    ...(files.key === null ? {} : { key: readPem('sslkey', files.key) }),
    ...(passphrase === null ? {} : { passphrase }),
    ...(minVersion === null ? {} : { minVersion: minVersion as 'TLSv1.2' }),
  };
  return { url: parsed.href, tls, isOptional: mode === 'prefer' };
}

const isSocket = ({ hostname, searchParams }: URL): boolean =>
  (searchParams.get('host') ?? decodeURIComponent(hostname)).startsWith('/');

function modeOf(text: string): Mode {
  const mode = MODES.find((known) => known === text);
  if (mode !== undefined) return mode;
  throw refused(`sslmode=${text} is none of ${MODES.join(', ')}`);
}

function checksOf(mode: Mode, rootFile: string | null): ConnectionOptions {
  const anyHost = mode === 'verify-full' ? {} : { checkServerIdentity: () => undefined };
  if (rootFile === 'system') {
    if (mode === 'verify-full') return {};
    throw refused('sslrootcert=system needs sslmode=verify-full: anybody can have a certificate of a public CA');
  }
  if (mode === 'prefer' || (mode === 'require' && rootFile === null)) return { rejectUnauthorized: false };
  if (rootFile !== null) return { ca: readPem('sslrootcert', rootFile), ...anyHost };
  if (mode === 'verify-full') return {};
  throw refused('sslmode=verify-ca needs sslrootcert=<file of the CA>');
}

function readPem(setting: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw refused(`${setting} cannot be read: ${messageOf(error)}`);
  }
}

const refused = (what: string): StoreRefused => new StoreRefused(`the URL of gateway.store.postgres: ${what}`);

/** Codes of Node.js for a certificate that no trusted root has signed. */
const UNTRUSTED =
  /^(?:SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_(?:VERIFY|GET)_[A-Z_]+|CERT_UNTRUSTED|CERT_SIGNATURE_FAILURE)$/;

/** What to do about a TLS error; null for any other error. */
export function tlsAdvice(code: string): string | null {
  if (UNTRUSTED.test(code))
    return 'sslrootcert in the URL of the database names the file of the CA that signed its certificate';
  return code === 'ERR_TLS_CERT_ALTNAME_INVALID'
    ? 'with sslmode=verify-full the certificate has to name the host of the URL'
    : null;
}
