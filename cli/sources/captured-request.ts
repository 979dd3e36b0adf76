/** A saved request: a raw HTTP message, a curl command line or a HAR file, as `source detect` reads it. */
import type { RequestParts } from '../../runtime/verify/request.ts';

export interface CapturedRequest {
  /** Identifies it among several requests of a file; empty if it is the only one. */
  readonly label: string;
  readonly parts: RequestParts;
  /** The URL without its query when the capture has one. */
  readonly url: string | null;
  /** The changes that were necessary to read the capture. */
  readonly notes: readonly string[];
}

/** Name and value pairs in the order of the capture. */
export type HeaderPairs = readonly (readonly [name: string, value: string])[];

/** Reads a file of a curl command line (`@file`). */
export type ReadFile = (path: string) => Buffer;

/** The parts that a verifier reads. `target`: an absolute URL or a path with its query. */
export function captureOf(
  request: { readonly method: string; readonly target: string; readonly headers: HeaderPairs; readonly body: Buffer },
  about: { readonly label?: string; readonly notes?: readonly string[] } = {},
): CapturedRequest {
  const { method, target, headers, body } = request;
  const absolute = /^https?:\/\//i.test(target) ? target : null;
  const path = absolute === null ? target : absolute.replace(/^https?:\/\/[^/?#]*/i, '') || '/';
  return {
    label: about.label ?? '',
    url: absolute?.split('?')[0] ?? urlOfHost(headers, path),
    notes: about.notes ?? [],
    parts: { method, url: path, headers: joined(headers), rawHeaders: headers.flat(), body },
  };
}

function urlOfHost(headers: HeaderPairs, path: string): string | null {
  const host = headers.find(([name]) => name.toLowerCase() === 'host')?.[1];
  return host === undefined || !path.startsWith('/') ? null : `https://${host}${path.split('?')[0] ?? ''}`;
}

/** As node does: lower-case names, repeated ones joined. */
function joined(headers: HeaderPairs): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    result[key] = Object.hasOwn(result, key) ? `${result[key]}, ${value}` : value;
  }
  return result;
}
