/**
 * What a module brings to the changes of a store: functions over the rows of one change, which both engines call in the
 * transaction that stores it. The store itself knows only columns: what blocks a delivery, and whether it was reported.
 */
import type { Step } from '../../schemas/built/operations/types.ts';
import type { RunCounter } from './run-limits.ts';
import { NO_COUNTER } from './run-limits.ts';
import type { BlockedBy } from './waits.ts';

/** A delivery that is or was blocked, within a change. */
export interface BlockedDelivery {
  readonly row: { readonly blocked_by: BlockedBy | null; readonly told_at: number | null };
  /** Ends the wait with a step: the delivery is due and is sent, or it ends unsent. @param delayMs after which it is due */
  end(isSent: boolean, step: Pick<Step, 'outcome' | 'reason' | 'by'>, delayMs?: number): void;
  /** Blocks it again with a step. @param wait begin and end of the wait, Unix ms */
  block(by: BlockedBy, wait: readonly [from: number, until: number], step: Pick<Step, 'outcome' | 'by'>): void;
  /** Stores the message of the change, which reports that the delivery is blocked. False: the change has none. */
  tell(): boolean;
}

/** Makes a change to a delivery that is not due. False: nothing was changed. @param values unchecked */
export type DeliveryChange = (delivery: BlockedDelivery, values: Readonly<Record<string, unknown>>) => boolean;

export interface StorePart {
  /** URL of the file that exports it, as its only export with a `url`: the writer of a file loads it in its thread. */
  readonly url: string;
  /** Decides by the limits of runs. */
  readonly counter?: RunCounter;
  /** The changes of deliveries, by name. */
  readonly changes?: Readonly<Record<string, DeliveryChange>>;
}

/** The parts of all modules. */
export interface UnitParts {
  readonly counter: RunCounter;
  readonly changes: ReadonlyMap<string, DeliveryChange>;
}

export const joinParts = (parts: readonly StorePart[] = []): UnitParts => ({
  counter: parts.find(({ counter }) => counter !== undefined)?.counter ?? NO_COUNTER,
  changes: new Map(parts.flatMap(({ changes = {} }) => Object.entries(changes))),
});

export const NO_PARTS = joinParts();
