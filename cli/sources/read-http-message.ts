/** Reads a raw HTTP request from a file (`request.http`), with the variations that editors and REST clients produce. */
import { CliError } from '../base/errors.ts';
import type { CapturedRequest, HeaderPairs } from './captured-request.ts';
import { captureOf } from './captured-request.ts';

const REQUEST_LINE = /^(?:([A-Z]+)\s+)?(\S+)(?:\s+HTTP\/[\d.]+)?$/;

/** @throws CliError if the first line is not a request line */
export function readHttpMessage(bytes: Buffer): CapturedRequest {
  const { head, body } = splitMessage(bytes);
  const lines = head.split(/\r?\n/).filter((line) => !/^(#|\/\/)/.test(line));
  const first = lines.find((line) => line.trim() !== '') ?? '';
  const match = REQUEST_LINE.exec(first.trim());
  const target = match?.[2] ?? '';
  if (match === null || !/^(\/|https?:\/\/)/i.test(target)) {
    throw new CliError(
      'the capture is no HTTP request, no curl command line and no HAR file',
      'a raw request starts with a line like: POST /webhooks/route HTTP/1.1',
    );
  }
  const headers = headerPairs(lines.slice(lines.indexOf(first) + 1));
  const cut = isChunked(headers) ? { body: joinChunks(body), notes: [] } : cutToLength(headers, body);
  return captureOf({ method: match[1] ?? 'POST', target, headers, body: cut.body }, { notes: cut.notes });
}

/** The head as Latin-1, as node reads it, and the body's bytes. */
function splitMessage(bytes: Buffer): { readonly head: string; readonly body: Buffer } {
  const ends = (['\r\n\r\n', '\n\n'] as const)
    .map((mark) => ({ at: bytes.indexOf(mark), length: mark.length }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at);
  const [end] = ends;
  if (end === undefined) return { head: bytes.toString('latin1'), body: Buffer.alloc(0) };
  return { head: bytes.subarray(0, end.at).toString('latin1'), body: bytes.subarray(end.at + end.length) };
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

/** Editors end a file with a line feed that was never sent: Content-Length tells. */
function cutToLength(headers: HeaderPairs, body: Buffer): { readonly body: Buffer; readonly notes: readonly string[] } {
  const length = Number(headers.find(([name]) => name.toLowerCase() === 'content-length')?.[1] ?? body.length);
  const rest = body.subarray(length).toString('latin1');
  if (!Number.isSafeInteger(length) || length >= body.length || !/^[\r\n]+$/.test(rest)) return { body, notes: [] };
  return {
    body: body.subarray(0, length),
    notes: ['dropped the line feed behind Content-Length: the editor added it'],
  };
}
