/** The keys that are paused because they have had more runs than their limit, for commands. */
import { createHash } from 'node:crypto';
import { decodeOr, isText } from '../../../../runtime/store/decode.ts';
import type { RunTimes } from '../../../../runtime/store/guard-mutations.ts';
import { isRunTimes } from '../../../../runtime/store/guard-mutations.ts';
import type { Store } from '../../../../runtime/store/store.ts';

export interface PausedKey {
  /** Of the key, short enough to be typed. */
  readonly id: string;
  readonly profile: string;
  readonly route: string;
  /** The session or coalesce key, or JSON of where the answers go. */
  readonly key: string;
  /** Unix ms. */
  readonly until: number;
  /** As it is stored. */
  readonly row: { readonly key: string; readonly body: string };
}

const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);

/** @param now Unix ms */
export async function pausedKeys(store: Pick<Store, 'read'>, now: number): Promise<readonly PausedKey[]> {
  const rows = await store.read({ kind: 'guard_rows', of: 'runs' });
  return rows.flatMap(({ key: stored, body }): readonly PausedKey[] => {
    const { until } = decodeOr<RunTimes>(body, isRunTimes, { times: [], until: null });
    const [profile, route, key] = decodeOr<readonly string[]>(stored, isTexts, []);
    if (until === null || until <= now || profile === undefined || route === undefined || key === undefined) return [];
    const id = createHash('sha256').update(stored).digest('hex').slice(0, 10);
    return [{ id, profile, route, key, until, row: { key: stored, body } }];
  });
}
