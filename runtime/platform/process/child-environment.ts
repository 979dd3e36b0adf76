/**
 * What programs that hookwright starts see of its environment: a list of what is allowed, for agents and for `gh`.
 * Everything else may be a secret: of this program, of another profile, of the shell it was started from.
 */

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where programs are and how to talk to people. */
const MACHINE = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LANGUAGE', 'TZ', 'TERM', 'TMPDIR'];

/** How to reach the network from here. */
const NETWORK = [
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'no_proxy', 'all_proxy'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE', 'GIT_SSL_CAINFO'],
];

/** Without these a program does not even start on Windows. */
const WINDOWS = ['SYSTEMROOT', 'SystemRoot', 'ComSpec', 'PATHEXT', 'TEMP', 'TMP', 'USERPROFILE', 'APPDATA'];

const ALLOWED: ReadonlySet<string> = new Set([...MACHINE, ...NETWORK, ...WINDOWS]);

const isAllowed = (name: string): boolean => ALLOWED.has(name) || name.startsWith('LC_');

const NONE: ReadonlySet<string> = new Set();

/** @param secret variables that are not passed on although their names are harmless, because a secret is kept in them */
export function allowedEnvironment(env: Environment, secret: ReadonlySet<string> = NONE): Record<string, string> {
  const allowed: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && isAllowed(name) && !secret.has(name)) allowed[name] = value;
  }
  return allowed;
}
