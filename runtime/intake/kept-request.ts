/**
 * A kept request as data, for `requests`, `explain`, `diff` and the control socket. It holds no credentials; whether its
 * signature was valid was decided when it arrived.
 */

import { isUtf8 } from 'node:buffer';
import type {
  FoundRequest,
  KeptFilter,
  KeptPage,
  KeptRequest,
  RequestSummary,
} from '../../schemas/built/operations/types.ts';
import type { PrintedRequest } from '../../schemas/generated/types.ts';

/** The part that is stored as JSON, besides the number and the body. */
export type KeptHead = Omit<KeptRequest, 'id' | 'body'>;

/** Reads kept requests, from a running server or from a home's file. */
export interface KeptRequests {
  list(filter: KeptFilter, page: KeptPage): Promise<readonly RequestSummary[]>;
  /** @param id an id, or a prefix of one */
  load(id: string): Promise<FoundRequest>;
  close(): Promise<void>;
}

/** As `requests show --json` and the console show it: a body that is text as text. @param next what to do about it */
export function printedRequest({ body, headers, ...rest }: KeptRequest, next: string | null): PrintedRequest {
  const bytes = body === null ? null : Buffer.from(body, 'base64');
  const isText = bytes !== null && isUtf8(bytes);
  const pairs = headers.map(([name, value]): [string, string] => [name, value]);
  return {
    ...rest,
    next,
    headers: pairs,
    body: isText ? bytes.toString('utf8') : null,
    body_base64: isText ? null : body,
  };
}
