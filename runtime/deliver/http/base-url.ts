/** Checks the base URL of a target when it is linked, so that no delivery can change where its credentials go. */

export interface BaseUrl {
  /** `https://host[:port]`. */
  readonly origin: string;
  /** Without a trailing slash. */
  readonly path: string;
  /** Query of the base itself (signed webhook URLs have one), without `?`. */
  readonly query: string;
  /** For people: with what is secret in it hidden. */
  readonly shown: string;
}

export interface BaseUrlOptions {
  /** The operator allows plain http to a host that is not this machine. */
  readonly allowHttp: boolean;
  /** Path and query are a secret (an incoming webhook's URL). */
  readonly secret: boolean;
}

const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** The checked base, or what is wrong with it; the text itself is not repeated, it may be a secret. */
export function parseBaseUrl(text: string, options: BaseUrlOptions): BaseUrl | string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null) return 'the base URL is not a URL';
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'the base URL is neither https:// nor http://';
  if (url.username !== '' || url.password !== '') return 'the base URL may not hold a user name or password';
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname) && !options.allowHttp) {
    return `the base URL sends credentials to ${url.hostname} without encryption; use https://, or set allow_http: true`;
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
