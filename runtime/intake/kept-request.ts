/**
 * A kept request as data, for `requests`, `explain`, `diff` and the control socket. It holds no credentials; whether its
 * signature was valid was decided when it arrived.
 */

import { isUtf8 } from 'node:buffer';
import type { KeptReason, PrintedRequest, SignatureCause } from '../../schemas/generated/types.ts';
import type { Outcome } from './reply.ts';
import type { StageName } from './stage.ts';

/** A kept request in a list. */
export interface KeptSummary {
  readonly id: string;
  /** Unix ms at which it arrived. */
  readonly at: number;
  readonly profile: string;
  readonly route: string;
  readonly method: string;
  readonly outcome: Outcome;
  /** HTTP status of the answer. */
  readonly status: number;
  /** The stage that decided; null after an internal error. */
  readonly stage: StageName | null;
  /** Reason code; null when the outcome says everything. */
  readonly reason: string | null;
  /** Event type; empty when the request was refused before it was identified. */
  readonly event: string;
  readonly delivery_id: string;
  /** Whether the signature was valid, or the route checks none. The body is kept only then. */
  readonly verified: boolean;
  /** Length of the body in bytes; null when it was not read. */
  readonly body_bytes: number | null;
}

export interface KeptRequest extends KeptSummary {
  /** Path and query as sent, without credentials. */
  readonly path: string;
  /** In the order received, with a marker instead of each credential. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Base64; null when it is not kept. */
  readonly body: string | null;
  /** Hexadecimal SHA-256 of the body as received; null when it was not read. */
  readonly body_sha256: string | null;
  /** The scheme that verified it; null when none did. */
  readonly scheme: string | null;
  /** Details of the reason. */
  readonly about: KeptReason | null;
  /** Why the signature was refused; null when it was not. */
  readonly cause: SignatureCause | null;
  /** Id of its dispatch; null when it has none. */
  readonly dispatch_id: string | null;
  /** Id of the kept request that it replays; null when it is not a replay. */
  readonly replay_of: string | null;
  /** Time from its headers to its answer, in ms. */
  readonly ms: number;
}

/** The part that is stored as JSON, besides the number and the body. */
export type KeptHead = Omit<KeptRequest, 'id' | 'body'>;

/** All given conditions must hold. */
export interface KeptFilter {
  readonly profile?: string;
  readonly route?: string;
  readonly outcome?: string;
  readonly reason?: string;
  /** Unix ms. */
  readonly since?: number;
  /** Text in path, headers, event, delivery id or body; ignores the case of ASCII letters. */
  readonly grep?: string;
}

/** Newest first. */
export interface KeptPage {
  readonly limit: number;
  /** Only requests older than this id, which need not exist any more. */
  readonly before?: string;
  /** Only requests newer than this id, oldest first. */
  readonly after?: string;
  /** Only this id and newer ones. */
  readonly down_to?: string;
  /** Passes over so many. */
  readonly skip?: number;
}

export type FoundRequest =
  | { readonly kind: 'found'; readonly request: KeptRequest }
  | { readonly kind: 'unknown' | 'ambiguous' };

export type FoundPrinted =
  | { readonly kind: 'found'; readonly request: PrintedRequest }
  | Exclude<FoundRequest, { readonly kind: 'found' }>;

/** Reads kept requests, from a running server or from a home's file. */
export interface KeptRequests {
  list(filter: KeptFilter, page: KeptPage): Promise<readonly KeptSummary[]>;
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
