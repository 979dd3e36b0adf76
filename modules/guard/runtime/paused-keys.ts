/** The keys that are paused because they have had more runs than their limit. */
import { createHash } from 'node:crypto';
import type { RunKey } from '../../../runtime/store/budget.ts';
import { readRunKey } from '../../../runtime/store/budget.ts';
import type { Store } from '../../../runtime/store/contract.ts';
import { decodeOr } from '../../../runtime/store/decode.ts';
import type { GuardRow, RunTimes } from '../../../runtime/store/records.ts';
import { isRunTimes } from '../../../runtime/store/records.ts';

export interface PausedKey {
  /** Of the key, short enough to be typed. */
  readonly id: string;
  readonly of: RunKey;
  /** Unix ms. */
  readonly until: number;
  /** As it is stored. */
  readonly row: GuardRow;
}

/** @param now Unix ms */
export async function pausedKeys(store: Pick<Store, 'read'>, now: number): Promise<readonly PausedKey[]> {
  const rows = await store.read({ kind: 'guard_rows', of: 'runs', paused: true });
  return rows.flatMap((row): readonly PausedKey[] => {
    const { until } = decodeOr<RunTimes>(row.body, isRunTimes, { times: [], until: null });
    const of = readRunKey(row.key);
    if (until === null || until <= now || of === null) return [];
    const id = createHash('sha256').update(row.key).digest('hex').slice(0, 10);
    return [{ id, of, until, row }];
  });
}
