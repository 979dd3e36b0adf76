/** The interface to what asks for approvals, and what it shows of them. A module implements it. */
import type { RouteTable } from '../../schemas/generated/types.ts';
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
