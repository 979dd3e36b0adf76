/** Reads saved requests: a HAR file, as browsers, proxies and `requests show --save` write it, or a raw HTTP message. */

import { CliError } from '../../../../cli/base/errors.ts';
import type { SavedRequest } from '../../../../cli/base/module.ts';
import { partsOf } from '../../../../runtime/verify/request.ts';

export interface ParsedCapture extends SavedRequest {
  /** The URL without its query when the capture has one. */
  readonly url: string | null;
  /** The changes that were necessary to read the capture. */
  readonly notes: readonly string[];
}

/** Name and value pairs in the order of the capture. */
export type HeaderPairs = readonly (readonly [name: string, value: string])[];

type Json = Readonly<Record<string, unknown>>;

/** Maximum number of HAR entries to read. */
const MAX_ENTRIES = 50;
const REQUEST_LINE = /^(?:([A-Z]+)\s+)?(\S+)(?:\s+HTTP\/[\d.]+)?$/;

/** @throws CliError if it is neither */
export function readCapture(bytes: Buffer): readonly ParsedCapture[] {
  const start = bytes.subarray(0, 4096).toString('latin1').trimStart();
  const found = start.startsWith('{') ? readHar(bytes.toString('utf8')) : [readHttpMessage(bytes)];
  if (found.length === 0) throw new CliError('the capture contains no request with a body');
  return found;
}

/** Returns the parts that verification reads. @param target an absolute URL, or a path with its query */
export function captureOf(
  request: { readonly method: string; readonly target: string; readonly headers: HeaderPairs; readonly body: Buffer },
  about: { readonly label?: string; readonly notes?: readonly string[] } = {},
): ParsedCapture {
  const { method, target, headers, body } = request;
  const absolute = /^https?:\/\//i.test(target) ? target : null;
  const path = absolute === null ? target : absolute.replace(/^https?:\/\/[^/?#]*/i, '') || '/';
  return {
    label: about.label ?? '',
    url: absolute?.split('?')[0] ?? urlOfHost(headers, path),
    notes: about.notes ?? [],
    parts: partsOf(method, path, headers, body),
  };
}

function urlOfHost(headers: HeaderPairs, path: string): string | null {
  const host = headers.find(([name]) => name.toLowerCase() === 'host')?.[1];
  return host === undefined || !path.startsWith('/') ? null : `https://${host}${path.split('?')[0] ?? ''}`;
}

/** Reads a raw HTTP request, with the variations of editors and REST clients. @throws CliError if the first line is not a request line */
function readHttpMessage(bytes: Buffer): ParsedCapture {
  const { head, body } = splitMessage(bytes);
  const lines = head.split(/\r?\n/).filter((line) => !/^(#|\/\/)/.test(line));
  const first = lines.find((line) => line.trim() !== '') ?? '';
  const match = REQUEST_LINE.exec(first.trim());
  const target = match?.[2] ?? '';
  if (match === null || !/^(\/|https?:\/\/)/i.test(target)) {
    throw new CliError(
      'the capture is neither an HTTP request nor a HAR file',
      'the first line of a raw request looks like: POST /webhooks/route HTTP/1.1',
    );
  }
  const headers = headerPairs(lines.slice(lines.indexOf(first) + 1));
  const cut = isChunked(headers) ? { body: joinChunks(body), notes: [] } : cutToLength(headers, body);
  return captureOf({ method: match[1] ?? 'POST', target, headers, body: cut.body }, { notes: cut.notes });
}

/** Returns the head as Latin-1, as node reads it, and the body's bytes. */
function splitMessage(bytes: Buffer): { readonly head: string; readonly body: Buffer } {
  const text = bytes.toString('latin1');
  const end = /\r\n\r\n|\n\n/.exec(text);
  if (end === null) return { head: text, body: Buffer.alloc(0) };
  return { head: text.slice(0, end.index), body: bytes.subarray(end.index + end[0].length) };
}

function headerPairs(lines: readonly string[]): HeaderPairs {
  return lines.flatMap((line) => {
    const colon = line.indexOf(':');
    return colon <= 0 ? [] : [[line.slice(0, colon).trim(), line.slice(colon + 1).trim()] as const];
  });
}

const isChunked = (headers: HeaderPairs): boolean =>
  headers.some(([name, value]) => name.toLowerCase() === 'transfer-encoding' && /\bchunked$/i.test(value.trim()));

/** The content of the chunks (RFC 9112 §7.1). A body without chunks is returned unchanged: some tools save it joined, under the same header. */
function joinChunks(body: Buffer): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const end = body.indexOf('\r\n', at);
    const size = end < 0 ? null : /^([0-9a-f]{1,8})(?:;.*)?$/i.exec(body.toString('latin1', at, end))?.[1];
    if (size == null) return body;
    const length = Number.parseInt(size, 16);
    if (length === 0) return Buffer.concat(chunks);
    chunks.push(body.subarray(end + 2, end + 2 + length));
    at = end + 2 + length + 2;
  }
}

/** Removes the line feed that editors append to a file, if Content-Length says that it was not sent. */
function cutToLength(headers: HeaderPairs, body: Buffer): { readonly body: Buffer; readonly notes: readonly string[] } {
  const length = Number(headers.find(([name]) => name.toLowerCase() === 'content-length')?.[1] ?? body.length);
  const rest = body.subarray(length).toString('latin1');
  if (!Number.isSafeInteger(length) || length >= body.length || !/^[\r\n]+$/.test(rest)) return { body, notes: [] };
  return {
    body: body.subarray(0, length),
    notes: ['removed the line feed after the body: Content-Length shows that it is not part of the request'],
  };
}

/** Reads all requests with a body from a HAR file (HTTP Archive 1.2). @throws CliError if it is not a HAR file */
function readHar(text: string): readonly ParsedCapture[] {
  const entries = list(record(record(parse(text))?.log)?.entries);
  if (entries === null) throw new CliError('the capture is JSON but not a HAR file: `log.entries` is missing');
  const requests = entries.flatMap((entry) => {
    const request = record(record(entry)?.request);
    const body = request === null ? null : bodyOf(request);
    return request === null || body === null ? [] : [{ request, body }];
  });
  return requests.slice(0, MAX_ENTRIES).map(({ request, body }, index) => {
    const method = textOf(request.method) ?? 'POST';
    const target = textOf(request.url) ?? '/';
    const label = requests.length === 1 ? '' : `#${index + 1} ${method} ${target}`;
    return captureOf({ method, target, headers: headersOf(request), body }, { label });
  });
}

/** HTTP/2 pseudo-headers are skipped. */
function headersOf(request: Json): HeaderPairs {
  return (list(request.headers) ?? []).flatMap((header) => {
    const name = textOf(record(header)?.name);
    const value = textOf(record(header)?.value);
    return name === null || value === null || name.startsWith(':') ? [] : [[name, value] as const];
  });
}

function bodyOf(request: Json): Buffer | null {
  const post = record(request.postData);
  const text = textOf(post?.text);
  if (text === null) return null;
  return post?.encoding === 'base64' ? Buffer.from(text, 'base64') : Buffer.from(text, 'utf8');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CliError('the capture starts like JSON but is invalid', 'use a HAR file or a raw HTTP request');
  }
}

const record = (value: unknown): Json | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;
const list = (value: unknown): readonly unknown[] | null => (Array.isArray(value) ? value : null);
const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
