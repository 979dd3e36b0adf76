/** Reads the output of a server as HTTP/1.1 responses, strictly, and checks them against docs/http.md. */
import assert from 'node:assert/strict';

export interface RawAnswer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
}

/** The result of a read: a whole response and the bytes after it, or nothing yet. */
export interface ReadAnswer {
  readonly answer: RawAnswer;
  readonly rest: Buffer;
}

const STATUS_LINE = /^HTTP\/1\.1 (\d{3}) [\x20-\x7e]*$/;
const HEADER_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): ([\x20-\x7e]*)$/;
const END = Buffer.from('\r\n\r\n');

/** The first response in the bytes; null while it is incomplete. @throws AssertionError for an invalid response */
export function readAnswer(bytes: Buffer, toHead: boolean): ReadAnswer | null {
  const end = bytes.indexOf(END);
  if (end < 0) return null;
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const status = Number(STATUS_LINE.exec(statusLine)?.[1]);
  assert.ok(status >= 100, `no status line: ${statusLine.slice(0, 100)}`);
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name = '', value = ''] = HEADER_LINE.exec(line) ?? [];
    assert.notEqual(name, '', `no header line: ${line.slice(0, 100)}`);
    assert.ok(!headers.has(name.toLowerCase()), `twice: ${name}`);
    headers.set(name.toLowerCase(), value);
  }
  const start = end + END.length;
  const empty = toHead || status < 200 || status === 204 || status === 304;
  assert.ok(empty || headers.has('content-length'), `${status} without a length`);
  const length = empty ? 0 : Number(headers.get('content-length'));
  if (bytes.length < start + length) return null;
  return {
    answer: { status, headers, body: bytes.subarray(start, start + length) },
    rest: bytes.subarray(start + length),
  };
}

/** Statuses of docs/http.md except 5xx, and the one for a body that is still to be sent. */
const STATUSES = new Set([100, 200, 202, 204, 304, 400, 401, 403, 404, 405, 408, 413, 415, 429, 431]);

/**
 * Checks that a response is documented: its status, and a JSON body, except for handshakes, whose sender defines the response.
 */
export function checkAnswer({ status, headers, body }: RawAnswer): void {
  assert.ok(STATUSES.has(status), `status ${status}: ${body.toString('utf8').slice(0, 200)}`);
  if (body.length === 0) return;
  const type = headers.get('content-type') ?? '';
  if (status === 200 && headers.get('x-content-type-options') === 'nosniff') return;
  // What the sources of Adyen and Twilio say.
  if (status === 200 && ['[accepted]', '<Response/>'].includes(body.toString())) return;
  assert.equal(type, 'application/json');
  const value: unknown = JSON.parse(body.toString('utf8'));
  assert.ok(typeof value === 'object' && value !== null);
  if (status < 400) return;
  const { status: word, error, code } = value as Record<string, unknown>;
  assert.deepEqual([word, typeof error, typeof code], ['error', 'string', 'string']);
}
