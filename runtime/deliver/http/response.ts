/** A response as conditions read it: status, headers, and a body that may be anything. */
import { tryParseJson } from '../../../base/try-parse-json.ts';

export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Cut off at the target's limit. */
  readonly body: Buffer;
}

export interface TargetResponse {
  readonly status: number;
  /** Value of a header by lower-case name; repeated ones are joined with commas. */
  readonly header: (name: string) => string | undefined;
  readonly text: string;
  /** The parsed JSON; undefined when the body is not JSON (a proxy's HTML, cut off, empty). */
  readonly json: unknown;
}

/** Never throws: a proxy may send any body. */
export function readResponse({ status, headers, body }: RawResponse): TargetResponse {
  const text = body.toString('utf8').replace(/^\uFEFF/, '');
  return { status, header: (name) => readHeader(headers, name), text, json: tryParseJson(text) };
}

function readHeader(headers: RawResponse['headers'], name: string): string | undefined {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
  return typeof value === 'object' ? value.join(', ') : value;
}
