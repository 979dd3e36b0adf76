/**
 * The allow-list of environment variables for programs that hookwright starts: agents and `gh`. Any other variable may be a
 * secret of this program, of another profile, or of the shell that started it.
 */

export type Environment = Readonly<Record<string, string | undefined>>;

/** Search path, user, language and terminal. */
const MACHINE = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LANGUAGE', 'TZ', 'TERM', 'TMPDIR'];

/** Proxies and certificates. */
const NETWORK = [
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'ALL_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'all_proxy',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
  'GIT_SSL_CAINFO',
];

/** Required to start programs on Windows. */
const WINDOWS = ['SYSTEMROOT', 'SystemRoot', 'ComSpec', 'PATHEXT', 'TEMP', 'TMP', 'USERPROFILE', 'APPDATA'];

const ALLOWED: ReadonlySet<string> = new Set([...MACHINE, ...NETWORK, ...WINDOWS]);

const isAllowed = (name: string): boolean => ALLOWED.has(name) || name.startsWith('LC_');

const NONE: ReadonlySet<string> = new Set();

/** The allowed variables of `env`. @param secret variables to omit because they contain a secret */
export function allowedEnvironment(env: Environment, secret: ReadonlySet<string> = NONE): Record<string, string> {
  const allowed: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && isAllowed(name) && !secret.has(name)) allowed[name] = value;
  }
  return allowed;
}
