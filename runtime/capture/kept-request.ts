/**
 * A request that was kept, as data: what `requests`, `explain`, `diff` and the control socket hand on. Credentials are not in
 * it; whether its signature was right, and why not, was decided when it came.
 */
import type { KeptReason, SignatureCause } from '../../schemas/generated/types.ts';
import type { Outcome } from '../intake/reply.ts';
import type { StageName } from '../intake/stage.ts';

/** What a list shows. */
export interface KeptSummary {
  readonly id: string;
  /** When it came, in Unix ms. */
  readonly at: number;
  readonly profile: string;
  readonly route: string;
  readonly method: string;
  readonly outcome: Outcome;
  /** Status of the answer. */
  readonly status: number;
  /** The stage that decided; null: a fault of this program. */
  readonly stage: StageName | null;
  /** Why, as a code; null when the outcome says everything. */
  readonly reason: string | null;
  /** As identified; empty where it did not come so far. */
  readonly event: string;
  readonly delivery_id: string;
  /** The signature was right, or the route checks none. Without it there is no body. */
  readonly verified: boolean;
  /** Length of the body in bytes; null: it was not read. */
  readonly body_bytes: number | null;
}

export interface KeptRequest extends KeptSummary {
  /** With the query, as sent but for credentials. */
  readonly path: string;
  /** In the order in which they came; a marker stands in place of each credential. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Base64; null where it is not kept. */
  readonly body: string | null;
  /** Hexadecimal SHA-256 of the body as received; null: it was not read. */
  readonly body_sha256: string | null;
  /** The scheme that verified it; null: none did. */
  readonly scheme: string | null;
  /** What goes with the reason. */
  readonly about: KeptReason | null;
  /** What was wrong with a signature that was refused; else null. */
  readonly cause: SignatureCause | null;
  /** Id of the run or delivery that it became; else null. */
  readonly dispatch_id: string | null;
  /** Id of the kept request that was sent again; else null. */
  readonly replay_of: string | null;
  /** From its headers to its answer, in ms. */
  readonly ms: number;
}

/** What is stored of it beside its number and its body. */
export type KeptHead = Omit<KeptRequest, 'id' | 'body'>;

/** Each condition that is given must hold. */
export interface KeptFilter {
  readonly profile?: string;
  readonly route?: string;
  readonly outcome?: string;
  readonly reason?: string;
  /** Unix ms. */
  readonly since?: number;
  /** Text in path, headers, event, delivery id or body; ASCII letters in either case. */
  readonly grep?: string;
}

/** Newest first. */
export interface KeptPage {
  readonly limit: number;
  /** Only older ones than the request with this id, which may be gone by now. */
  readonly before?: string;
  /** Only newer ones, the oldest of these first. */
  readonly after?: string;
}

export type FoundRequest =
  | { readonly kind: 'found'; readonly request: KeptRequest }
  | { readonly kind: 'unknown' | 'ambiguous' };

/** The kept requests, wherever they are: a running server, or the file of a home. */
export interface KeptRequests {
  list(filter: KeptFilter, page: KeptPage): Promise<readonly KeptSummary[]>;
  /** @param id or the beginning of one */
  load(id: string): Promise<FoundRequest>;
  close(): Promise<void>;
}
