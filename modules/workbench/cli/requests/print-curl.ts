/** A kept request as a curl command line; its credentials are missing. */
import { isUtf8 } from 'node:buffer';
import type { KeptRequest } from '../../../../runtime/intake/kept-request.ts';
import { sentHeaders } from '../../runtime/capture/requests.ts';

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

/** Characters that could drive a terminal. */
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

function quote(text: string): string {
  if (text.search(CONTROL) < 0) return `'${text.replaceAll("'", "'\\''")}'`;
  const escaped = text
    .replace(/[\\']/g, '\\$&')
    .replace(CONTROL, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `$'${escaped}'`;
}
