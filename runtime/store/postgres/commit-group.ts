/** Commits a group of changes whose transaction may meet that of another gateway. */
import { messageOf } from '../../../base/message-of.ts';
import type { Clock } from '../../platform/clock.ts';
import type { CommitResult, EncodedChange } from '../encode.ts';
import type { MutationKind, MutationResults } from '../mutations.ts';
import { StoreUnavailable } from '../store.ts';
import { isConflict, isStatementError } from './driver.ts';

/** Makes the changes in one transaction. */
export type MakeGroup = (changes: readonly EncodedChange[]) => Promise<readonly MutationResults[MutationKind][]>;

/** How often a group that meets another gateway's is made. */
const TRIES = 6;
const PAUSE_MS = 20;

/**
 * A group that meets another gateway's is made again; a change that cannot be stored fails alone.
 * Rejects when it is not known whether the changes were stored.
 * @returns results in the order of the changes
 */
export async function commitGroup(
  changes: readonly EncodedChange[],
  make: MakeGroup,
  clock: Clock,
): Promise<readonly CommitResult[]> {
  for (let tries = 1; ; tries++) {
    try {
      return (await make(changes)).map((value) => ({ kind: 'ok', value }));
    } catch (error) {
      if (isConflict(error) && tries < TRIES) await pause(clock, tries);
      else if (isConflict(error) || isStatementError(error)) return oneByOne(changes, make, clock, error);
      else if (error instanceof StoreUnavailable)
        return changes.map(() => ({ kind: 'unavailable', message: error.message }));
      else throw error;
    }
  }
}

async function oneByOne(
  changes: readonly EncodedChange[],
  make: MakeGroup,
  clock: Clock,
  error: unknown,
): Promise<readonly CommitResult[]> {
  if (changes.length === 1) return [{ kind: 'failed', message: messageOf(error) }];
  const results: CommitResult[] = [];
  for (const change of changes) {
    const [result] = await commitGroup([change], make, clock).catch((failure: unknown): readonly CommitResult[] => [
      { kind: 'in_doubt', message: messageOf(failure) },
    ]);
    if (result !== undefined) results.push(result);
  }
  return results;
}

const pause = (clock: Clock, tries: number): Promise<void> =>
  new Promise((resolve) => void clock.after(Math.random() * PAUSE_MS * tries, resolve));
