/** Commits a group of changes, and retries it after a conflict with another gateway. */
import { messageOf } from '../../../../base/message-of.ts';
import type { Clock } from '../../../../runtime/platform/clock.ts';
import type { CommitResult, EncodedChange } from '../../../../runtime/store/encode.ts';
import type { MutationKind, MutationResults } from '../../../../runtime/store/mutations.ts';
import { StoreRefused, StoreUnavailable } from '../../../../runtime/store/store.ts';
import { isConflict, isStatementError } from './driver.ts';

/** Makes the changes in one transaction. */
export type MakeGroup = (changes: readonly EncodedChange[]) => Promise<readonly MutationResults[MutationKind][]>;

/** Most attempts of a group that conflicts with another gateway's. */
const TRIES = 6;
const PAUSE_MS = 20;

/**
 * Commits the changes; resolves to the results in the same order. A group that conflicts with another gateway's is retried;
 * a change that cannot be stored fails alone. Rejects when it is unknown whether the changes were stored.
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
  if (changes.length === 1) {
    const message = messageOf(error);
    const kind = isConflict(error) || error instanceof StoreRefused ? 'unavailable' : 'failed';
    return [{ kind, message }];
  }
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
