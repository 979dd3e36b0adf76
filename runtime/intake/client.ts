/**
 * Identifies the sender of a request: the client behind trusted proxies, and whether a web page of another origin may have sent
 * it.
 */

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { isLoopback } from '../../base/net.ts';
import type { NetworkPlan } from '../../schemas/generated/types.ts';
import type { ReasonCode } from './reason-codes.ts';

const MAPPED = '::ffff:';
/** The same, in the normalised form of a URL. */
const MAPPED_URL = /^http:\/\/\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]/;

/** Converts an IPv4-mapped IPv6 address, in any spelling, to IPv4. */
export function plainAddress(address: string): string {
  const text = address.toLowerCase();
  if (!text.includes('ffff:') || isIP(text) !== 6 || text.includes('%')) return text;
  if (text.startsWith(MAPPED) && isIP(text.slice(MAPPED.length)) === 4) return text.slice(MAPPED.length);
  const [, high, low] = MAPPED_URL.exec(new URL(`http://[${text}]/`).href) ?? [];
  if (high === undefined || low === undefined) return text;
  const bits = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return bits.flatMap((group) => [group >> 8, group & 255]).join('.');
}

/** True for addresses of this machine, which may be a proxy or tunnel for any client. */
export function isLocal(address: string): boolean {
  return address === '::1' || (address.startsWith('127.') && isIP(address) === 4);
}

/**
 * The key under which a client is counted: an IPv4 address, or the first 64 bits of an IPv6 address, because one client
 * usually controls all addresses with that prefix.
 */
export function clientOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::');
  const groupsOf = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const first = groupsOf(head);
  const last = groupsOf(tail ?? '');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - first.length - last.length);
  const groups = [...first, ...Array<string>(zeros).fill('0'), ...last].slice(0, 4);
  return groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':');
}

export class TrustedProxies {
  private readonly list = new BlockList();

  constructor(networks: readonly NetworkPlan[]) {
    for (const { address, prefix, family } of networks) this.list.addSubnet(address, prefix, family);
  }

  has(address: string): boolean {
    const version = isIP(address);
    return version !== 0 && this.list.check(address, version === 4 ? 'ipv4' : 'ipv6');
  }

  /** The last hop of `X-Forwarded-For` that is not a trusted proxy; null if there is none. */
  clientIn(forwarded: string | readonly string[] | undefined): string | null {
    const hops = String(forwarded ?? '').split(',');
    for (const hop of hops.reverse()) {
      const address = plainAddress(withoutPort(hop.trim()));
      if (isIP(address) === 0) return null;
      if (!this.has(address)) return clientOf(address);
    }
    return null;
  }
}

/** Some proxies add the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(hop: string): string {
  const bracket = /^\[(.*)\](?::\d+)?$/.exec(hop);
  return bracket?.[1] ?? (/^[\d.]+:\d+$/.test(hop) ? hop.slice(0, hop.indexOf(':')) : hop);
}

/**
 * Null if a program on this machine sent the request, or a page of the server itself. Otherwise returns what is foreign. DNS
 * rebinding can point any host name to 127.0.0.1, so the host must be a loopback name. A proxy may leave it out with HTTP/1.0.
 */
export function foreignPart(headers: IncomingHttpHeaders): ReasonCode | null {
  const { host = '', origin, forwarded, 'sec-fetch-site': site } = headers;
  const [, ...standard] = String(forwarded).split(/\bhost=/i);
  const hosts = standard.map((text) => text.replace(/[;,].*|["\s]/g, ''));
  const named = [host, headers['x-forwarded-host'] ?? host, ...hosts];
  if (!named.every((name) => isLoopback(hostName(String(name))))) return 'foreign_host';
  if (origin !== undefined && !isOwn(origin, host)) return 'foreign_origin';
  const clients = Object.entries(headers).filter(([name]) => FORWARDED.test(name));
  if (clients.some(([, value]) => namesOther(value))) return 'foreign_client';
  return site === undefined || OWN_SITES.has(site) ? null : 'foreign_site';
}

/** Headers in which proxies and tunnels on this machine name the client, or only themselves (`Via`). */
const FORWARDED =
  /(?:^|-)forwarded(?:-for)?$|(?:^|-|client|socket|remote|real|user)ip(?:v[46])?$|(?:client|external|peer|remote|source)-?addr(?:ess)?$|^via$/;

/** True if one of the clients is not on this machine, or is not named by its address. */
function namesOther(value: string | readonly string[] = ''): boolean {
  const clients = String(value)
    .replace(/(?:by|host|proto)=[^,;]*|for=|["\s]/gi, '')
    .split(/[,;]/);
  return clients.some((hop) => hop !== '' && !isLocal(plainAddress(withoutPort(hop))));
}

/** `none`: the user's own act, such as a typed address or a bookmark. */
const OWN_SITES: ReadonlySet<unknown> = new Set(['same-origin', 'none']);

/** The host name without port and brackets. */
function hostName(host: string): string {
  return host.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1');
}

const isOwn = (origin: string, host: string): boolean => origin.toLowerCase() === `http://${host.toLowerCase()}`;

/**
 * RFC 9112 §3.2: a server must reject an HTTP/1.1 request without a Host header, and any request with two, because a proxy may
 * use the other one. HTTP/1.0 does not require it.
 */
export function hasOneHost({ rawHeaders, httpVersionMinor }: IncomingMessage): boolean {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') count++;
  }
  return count === 1 || (count === 0 && httpVersionMinor === 0);
}
