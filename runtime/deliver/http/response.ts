/** A response as the judging code sees it: status, headers, and a body that may be anything. */

/** What came over the wire. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** At most the target's cap. */
  readonly body: Buffer;
}

export interface TargetResponse {
  readonly status: number;
  /** Value of a header by lower-case name; several are joined as HTTP does. */
  readonly header: (name: string) => string | undefined;
  readonly text: string;
  /** The parsed JSON; undefined when the body is none (HTML of a proxy, cut off, empty). */
  readonly json: unknown;
}

/** Never throws: bodies are whatever a proxy in between likes to send. */
export function readResponse({ status, headers, body }: RawResponse): TargetResponse {
  const text = body.toString('utf8').replace(/^\uFEFF/, '');
  return { status, header: (name) => readHeader(headers, name), text, json: parseJson(text) };
}

function readHeader(headers: RawResponse['headers'], name: string): string | undefined {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
  return typeof value === 'object' ? value.join(', ') : value;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
