/** Reads the requests of a HAR file (HTTP Archive 1.2), as browsers and proxies save it. */
import { CliError } from '../base/errors.ts';
import type { CapturedRequest, HeaderPairs } from './captured-request.ts';
import { captureOf } from './captured-request.ts';

/** Maximum number of entries to read. */
const MAX_ENTRIES = 50;

type Json = Readonly<Record<string, unknown>>;

/** Every entry that is a request with a body. @throws CliError if it is not a HAR file */
export function readHar(text: string): readonly CapturedRequest[] {
  const entries = list(record(record(parse(text))?.log)?.entries);
  if (entries === null) throw new CliError('the capture is JSON but no HAR file: `log.entries` is missing');
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
    throw new CliError(
      'the capture starts like JSON and is none',
      'a HAR file, a raw HTTP request or a curl command line is read',
    );
  }
}

const record = (value: unknown): Json | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;
const list = (value: unknown): readonly unknown[] | null => (Array.isArray(value) ? value : null);
const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
