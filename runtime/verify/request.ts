/** A request as the verifier reads it: raw bytes, and views of them that are parsed at most once. */

import type { IncomingHttpHeaders } from 'node:http';
import { tryParseJson } from '../../base/try-parse-json.ts';

export interface SignedRequest {
  readonly method: string;
  /** Request target as received: path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Names and values alternating, as received; `headers` does not show repeated ones. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** The body as the intake parses it; undefined when it cannot be parsed. Memoised: verifier and intake share it. */
  payload(): unknown;
  /** The fields of a form body; null when the body is no form. Memoised. */
  form(): URLSearchParams | null;
}

export type RequestParts = Pick<SignedRequest, 'method' | 'url' | 'headers' | 'rawHeaders' | 'body'>;

const FORM = /^application\/x-www-form-urlencoded\s*(;|$)/i;

export function isFormEncoded(headers: IncomingHttpHeaders): boolean {
  const type = headers['content-type'];
  return typeof type === 'string' && FORM.test(type);
}

/** A request whose body is parsed on first use. For callers without an intake (the CLI, tests). */
export class LazyRequest implements SignedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  #payload: { readonly value: unknown } | null = null;
  #form: { readonly value: URLSearchParams | null } | null = null;

  constructor(parts: RequestParts) {
    this.method = parts.method;
    this.url = parts.url;
    this.headers = parts.headers;
    this.rawHeaders = parts.rawHeaders;
    this.body = parts.body;
  }

  payload(): unknown {
    this.#payload ??= { value: this.#parse() };
    return this.#payload.value;
  }

  form(): URLSearchParams | null {
    this.#form ??= { value: isFormEncoded(this.headers) ? new URLSearchParams(this.body.toString('utf8')) : null };
    return this.#form.value;
  }

  #parse(): unknown {
    const form = this.form();
    const text = form === null ? this.body.toString('utf8') : form.get('payload');
    if (text === null) return Object.fromEntries(form ?? []);
    return tryParseJson(text);
  }
}

/** A request as node:http presents it: header names in lower case, repeated values joined. */
export function partsOf(
  method: string,
  url: string,
  headers: readonly (readonly [name: string, value: string])[],
  body: Buffer,
): RequestParts {
  const joined: Record<string, string> = {};
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    joined[key] = Object.hasOwn(joined, key) ? `${joined[key]}, ${value}` : value;
  }
  return { method, url, headers: joined, rawHeaders: headers.flat(), body };
}
