/** Decides whether a web page of somebody else may have sent a request: for what is served without a credential. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isLoopback } from '../../base/listen-address.ts';
import type { ReasonCode } from './reason-codes.ts';

/**
 * Null when no browser sent the request to a server on this machine, or a page of that server did; otherwise what is foreign.
 * DNS rebinding can point any host name to 127.0.0.1, so the host has to be a loopback name.
 */
export function foreignPart({ host, origin, 'sec-fetch-site': site }: IncomingHttpHeaders): ReasonCode | null {
  if (host !== undefined && !isLoopback(hostName(host))) return 'foreign_host';
  if (origin !== undefined && !isOwn(origin, host)) return 'foreign_origin';
  return site === undefined || OWN_SITES.has(site) ? null : 'foreign_site';
}

/** `none`: the user's own act, such as a typed address or a bookmark. */
const OWN_SITES: ReadonlySet<unknown> = new Set(['same-origin', 'none']);

/** The host name without port and brackets. */
function hostName(host: string): string {
  return host.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1');
}

function isOwn(origin: string, host: string | undefined): boolean {
  return host !== undefined && origin.toLowerCase() === `http://${host.toLowerCase()}`;
}

/**
 * RFC 9112 §3.2: a server must refuse an HTTP/1.1 request without a Host header, and any request with two, of which a proxy
 * may use the other. It is optional in HTTP/1.0.
 */
export function hasOneHost({ rawHeaders, httpVersionMinor }: IncomingMessage): boolean {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') count++;
  }
  return count === 1 || (count === 0 && httpVersionMinor === 0);
}
