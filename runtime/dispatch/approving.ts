/** The interface to what asks for approvals, and what it shows of them. A module implements it. */
import type { OutputContent, RouteTable } from '../../schemas/generated/types.ts';
import type { Clock } from '../platform/clock.ts';
import type { Ids } from '../platform/ids.ts';
import type { Logger } from '../platform/log.ts';
import type { Store } from '../store/store.ts';
import type { Guard } from './guard.ts';

export interface ApprovingContext {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  /** The table in service. */
  readonly table: () => RouteTable;
  readonly alerts: Pick<Guard, 'raise' | 'clear' | 'lasting'>;
  /** Call when work was stored. */
  readonly wake: () => void;
}

export interface Approvals {
  /** Something may have begun to wait for a person, or does not any more. */
  changed(): void;
  close(): Promise<void>;
}

export type OpenApprovals = (context: ApprovingContext) => Approvals;

/** A message that waits for a person, or has done so. Times are Unix ms. */
export interface Approval {
  /** Id of its dispatch, number of its delivery, and the beginning of a digest of what is shown: another text has another id. */
  readonly id: string;
  readonly state: 'waiting' | 'approved' | 'rejected' | 'expired';
  readonly profile: string;
  readonly route: string | null;
  readonly job: string | null;
  readonly event: string;
  /** Display name. */
  readonly target: string;
  /** Of `http` the URL without its query, else the server, where the configuration names it; null: the target goes by its name. */
  readonly url: string | null;
  readonly address: Readonly<Record<string, string>>;
  /** Name of the output; null: it is the answer, or the message. */
  readonly output: string | null;
  readonly text: string;
  /** The further fields of an output. */
  readonly content: OutputContent;
  /** Null: it does not wait any more. */
  readonly since: number | null;
  readonly expires_at: number | null;
  /** Who has answered; null: nobody has. */
  readonly answer: { readonly by: string; readonly at: number; readonly reason: string | null } | null;
}

export type FoundApproval =
  | { readonly kind: 'found'; readonly approval: Approval }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'ambiguous'; readonly ids: readonly string[] };

/** `late`: somebody was first, or it has expired; the approval says who and what. */
export type AnsweredApproval =
  | { readonly kind: 'answered' | 'late'; readonly approval: Approval }
  | Exclude<FoundApproval, { readonly kind: 'found' }>;

export interface ApprovalAnswer {
  readonly approve: boolean;
  /** A person, or what stands for one. */
  readonly by: string;
  readonly reason: string | null;
}
