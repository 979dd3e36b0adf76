/** Reads what the handler needs from the head of a request, before its route is known. */
import type { IncomingMessage } from 'node:http';

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

/** The path as sent: an escaped or doubled slash makes a different path. */
export function pathOf(url: string): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}
