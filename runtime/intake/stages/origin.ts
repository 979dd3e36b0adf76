/**
 * Refuses requests of browsers to a route without a signature. A loopback address keeps other machines out, but not the web
 * pages that the operator opens: any page can post a form, and DNS rebinding can point its host name to 127.0.0.1.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { isLoopback } from '../../../base/loopback.ts';
import type { Stage } from '../intake.ts';
import type { ReasonCode } from '../reason-codes.ts';
import { FOREIGN_ORIGIN } from '../reply.ts';

export const checkOrigin: Stage = (intake) => {
  if (!intake.route.insecure) return null;
  const reason = intake.request.isDirect ? foreignPart(intake.headers) : 'unknown_sender';
  if (reason === null) return null;
  intake.reason = reason;
  return FOREIGN_ORIGIN;
};

/** Null when no browser sent it, or a page of this server. */
function foreignPart({ host, origin, 'sec-fetch-site': site }: IncomingHttpHeaders): ReasonCode | null {
  if (host !== undefined && !isLoopback(hostName(host))) return 'foreign_host';
  if (origin !== undefined && !isOwn(origin, host)) return 'foreign_origin';
  return site === undefined || site === 'same-origin' ? null : 'foreign_site';
}

/** The host name without port and brackets. */
function hostName(host: string): string {
  return host.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1');
}

function isOwn(origin: string, host: string | undefined): boolean {
  return host !== undefined && origin.toLowerCase() === `http://${host.toLowerCase()}`;
}
