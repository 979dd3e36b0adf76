/**
 * Checks a base URL from a config before anything is sent to it. The compiler checks the text as written, the runtime the
 * value of a reference. No later input can change where credentials are sent.
 */

export interface BaseUrl {
  /** `https://host[:port]`. */
  readonly origin: string;
  /** Without a trailing slash. */
  readonly path: string;
  /** Query of the base itself (signed webhook URLs have one), without `?`. */
  readonly query: string;
  /** The URL to display, without its secret parts. */
  readonly shown: string;
}

export interface BaseUrlOptions {
  /** The operator allows plain HTTP to hosts other than this machine. */
  readonly allowHttp: boolean;
  /** The whole URL is a secret (an incoming webhook's): its path and query may contain a credential and are not shown. */
  readonly secret: boolean;
}

const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;
const SECRET_PARAMETER =
  /^(?:(?:access|auth|api|id)?_?(?:token|key)|secret|client_secret|password|passwd|pwd|sig|signature)$/i;

/** Returns the checked base, or an error message. The message never contains the text, which may be a secret. */
export function parseBaseUrl(text: string, options: BaseUrlOptions): BaseUrl | string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null) return 'it is not a URL';
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'the URL is neither https:// nor http://';
  const problem = credentialsIn(url, options);
  if (problem !== null) return problem;
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname) && !options.allowHttp) {
    return `the URL sends credentials to ${url.hostname} without encryption; use https://, or set allow_http: true`;
  }
  const path = url.pathname.replace(/\/+$/, '');
  const query = url.search.slice(1);
  const visible = `${path}${query === '' ? '' : `?${query}`}`;
  return {
    origin: url.origin,
    path,
    query,
    shown: `${url.origin}${options.secret && visible !== '' ? '/***' : visible}`,
  };
}

/** Returns an error message if the URL contains a credential, else null: base URLs are printed and stored. */
export function credentialsIn(url: URL, { secret }: Pick<BaseUrlOptions, 'secret'>): string | null {
  if (url.username !== '' || url.password !== '') return 'the URL must not contain a user name or password';
  const name = secret ? undefined : [...url.searchParams.keys()].find((key) => SECRET_PARAMETER.test(key));
  return name === undefined ? null : `the URL must not contain a credential (\`${name}\`)`;
}
