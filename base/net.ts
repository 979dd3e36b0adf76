/** Addresses and URLs: base URLs of targets, addresses to listen on, PostgreSQL URLs, and which addresses are public. */
import { BlockList, isIP } from 'node:net';
import { SPECIAL, SPECIAL_6 } from './built/networks.ts';

/*
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

interface BaseUrlOptions {
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
  if (url === null) return 'this is not a URL';
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

const LOOPBACK_HOST: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '::1']);

/** Only this machine can reach it (§2.4). False for an empty host, which binds every address. */
export const isLoopback = (host: string): boolean => LOOPBACK_HOST.has(host.toLowerCase());

/** Whether the host means every address of this machine. */
export const isWildcard = (host: string): boolean => host === '' || host === '0.0.0.0' || host === '::';

export const listenUrl = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`;

const PARTS = /^postgres(?:ql)?:\/\/(?:([^@/?#]*)@)?[^@]*$/;

/** PostgreSQL connection URLs as libpq accepts them: `postgres://user:password@host:port/database?sslmode=…`. */
export const isPostgresUrl = (text: string): boolean => PARTS.test(text) && URL.canParse(text);

/** The passwords in the URL, including that of the TLS key, both percent-encoded and decoded. */
export function passwordsIn(text: string): readonly string[] {
  if (!isPostgresUrl(text)) return [];
  const { password, searchParams } = new URL(text);
  const written = [password, ...['password', 'sslpassword'].map((name) => searchParams.get(name) ?? '')];
  return [...new Set(written.filter((each) => each !== '').flatMap((each) => [each, decode(each)]))];
}

export const holdsPassword = (text: string): boolean => passwordsIn(text).length > 0;

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Error code: the host has an address to which connections are not allowed. */
export const NOT_PUBLIC = 'NOT_PUBLIC';

interface AddressLists {
  readonly special: BlockList;
  readonly global: BlockList;
}

let cachedLists: AddressLists | undefined;

function lists(): AddressLists {
  if (cachedLists !== undefined) return cachedLists;
  const special = new BlockList();
  const global = new BlockList();
  const add = (list: BlockList, network: string, family: 'ipv4' | 'ipv6'): void => {
    const [address = '', prefix] = network.split('/');
    list.addSubnet(address, Number(prefix), family);
  };
  for (const network of SPECIAL) add(special, network, 'ipv4');
  for (const network of SPECIAL_6) add(special, network, 'ipv6');
  add(global, '2000::/3', 'ipv6');
  cachedLists = { special, global };
  return cachedLists;
}

/** 4 or 6; 0 for any other text, and for an address with a zone, which belongs to one machine. */
export const ipVersion = (address: string): number => (address.includes('%') ? 0 : isIP(address));

/** False if the text is not an IP address, and for IPv4 addresses in IPv6 form. @param address without brackets */
export function isPublicAddress(address: string): boolean {
  const version = ipVersion(address);
  if (version === 0) return false;
  const { special, global } = lists();
  if (version === 4) return !special.check(address, 'ipv4');
  return global.check(address, 'ipv6') && !special.check(address, 'ipv6');
}
