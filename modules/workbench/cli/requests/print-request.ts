/** A kept request as a curl command line, and as a HAR file with one entry: what `explain`, `test` and `source detect` read. */

import { isUtf8 } from 'node:buffer';
import { UNSEEN_ALONE } from '../../../../base/unseen.ts';
import { packageVersion } from '../../../../cli/base/package.ts';
import type { KeptRequest } from '../../../../schemas/built/operations/types.ts';
import { sentHeaders } from '../../runtime/capture/requests.ts';
import { BODY_MARKER, isMarker } from '../../runtime/removed.ts';

/** Headers that curl makes itself. */
const OWN: ReadonlySet<string> = new Set(['host', 'content-length', 'connection', 'transfer-encoding', 'expect']);

/** @param url of the gateway, without a path */
export function printCurl({ method, path, headers, body }: KeptRequest, url: string): string {
  const lines = sentHeaders(headers)
    .filter(([name]) => !OWN.has(name.toLowerCase()))
    .map(([name, value]) => `  -H ${quote(`${name}: ${value}`)}`);
  const bytes = Buffer.from(body ?? '', 'base64');
  const data = isUtf8(bytes)
    ? [`  --data-binary ${quote(bytes.toString('utf8'))}`]
    : [`  --data-binary @<(printf %s ${quote(body ?? '')} | base64 -d)`];
  return [`curl -X ${method} ${quote(url + path)}`, ...lines, ...(bytes.length === 0 ? [] : data)].join(' \\\n');
}

/** What could drive a terminal, or is not seen on one. */
const CONTROL = new RegExp(String.raw`(?![\t\n])${UNSEEN_ALONE}`, 'gu');

function quote(text: string): string {
  if (text.search(CONTROL) < 0) return `'${text.replaceAll("'", "'\\''")}'`;
  const escaped = text.replace(/[\\']/g, '\\$&').replace(CONTROL, (char) => {
    const code = (char.codePointAt(0) ?? 0).toString(16);
    return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`;
  });
  return `$'${escaped}'`;
}

export function printHar(request: KeptRequest): string {
  const headers = sentHeaders(request.headers);
  const host = headers.find(([name]) => name.toLowerCase() === 'host')?.[1] ?? 'localhost';
  const type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  const query = [...new URL(request.path, 'http://localhost').searchParams];
  const removed = removedPlaces(request, query);
  const entry = {
    startedDateTime: new Date(request.at).toISOString(),
    time: request.ms,
    request: {
      method: request.method,
      url: `http://${host}${request.path}`,
      httpVersion: 'HTTP/1.1',
      headers: headers.map(([name, value]) => ({ name, value })),
      queryString: query.map(([name, value]) => ({ name, value })),
      cookies: [],
      headersSize: -1,
      bodySize: request.body_bytes ?? 0,
      postData: { mimeType: type, ...postText(request.body) },
      comment: removed.length === 0 ? '' : `credentials were removed: ${removed.join(', ')}`,
    },
    response: { status: request.status, statusText: '', httpVersion: 'HTTP/1.1', headers: [], cookies: [] },
    cache: {},
    timings: { send: 0, wait: request.ms, receive: 0 },
    comment: `request ${request.id} of route ${request.route}: ${request.outcome}`,
  };
  const log = { version: '1.2', creator: { name: 'hookwright', version: packageVersion() }, entries: [entry] };
  return `${JSON.stringify({ log }, null, 2)}\n`;
}

/** Where a marker replaces a credential. */
function removedPlaces({ headers, body }: KeptRequest, query: readonly (readonly [string, string])[]): string[] {
  const names = (values: readonly (readonly [string, string])[]): string[] =>
    values.filter(([, value]) => isMarker(value)).map(([name]) => name);
  return [...names(headers), ...names(query).map((name) => `?${name}`), ...(lacksCredential(body) ? ['body'] : [])];
}

/** Whether a marker replaces a credential in a body. @param body in base64 */
export const lacksCredential = (body: string | null): boolean =>
  Buffer.from(body ?? '', 'base64').includes(BODY_MARKER);

function postText(body: string | null): { readonly text: string; readonly encoding?: 'base64' } {
  const bytes = Buffer.from(body ?? '', 'base64');
  return isUtf8(bytes) ? { text: bytes.toString('utf8') } : { text: body ?? '', encoding: 'base64' };
}
