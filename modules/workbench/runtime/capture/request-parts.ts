/** Converts a kept request to the form that the stages read. */

import type { KeptRequest } from '../../../../runtime/intake/kept-request.ts';
import { isMarker } from '../../../../runtime/verify/removed.ts';
import type { RequestParts } from '../../../../runtime/verify/request.ts';

/** Lower-cases names and joins repeated values, as node:http does; leaves out headers whose value was removed. */
export function requestParts(kept: Pick<KeptRequest, 'method' | 'path' | 'headers' | 'body'>): RequestParts {
  const headers = sentHeaders(kept.headers);
  const joined: Record<string, string> = {};
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    joined[key] = Object.hasOwn(joined, key) ? `${joined[key]}, ${value}` : value;
  }
  const body = Buffer.from(kept.body ?? '', 'base64');
  return { method: kept.method, url: kept.path, headers: joined, rawHeaders: headers.flat(), body };
}

/** The headers without those whose value was removed. */
export const sentHeaders = (headers: KeptRequest['headers']): KeptRequest['headers'] =>
  headers.filter(([, value]) => !isMarker(value));
