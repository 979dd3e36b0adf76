/** The id of this installation, which the markers of what it posts hold: random, in the store, the same for all its gateways. */
import { decodeOr } from '../store/decode.ts';
import type { Store } from '../store/store.ts';
import { createInstallation, isInstallation } from '../table/loop-marker.ts';

export type FindInstallation = () => Promise<string>;

const ROW = { kind: 'installation', key: '' } as const;

/** Returns a function that reads the id, or creates it, once. It rejects with StoreUnavailable, and then tries again. */
export function findInstallation(
  store: Pick<Store, 'read' | 'write'>,
  randomBytes: (size: number) => Buffer,
): FindInstallation {
  let found: Promise<string> | null = null;
  const read = async (): Promise<string> => {
    for (;;) {
      const body = (await store.read({ kind: 'guard_rows', of: ROW.kind })).find(({ key }) => key === ROW.key)?.body;
      const id = body === undefined ? null : decodeOr<string | null>(body, isInstallation, null);
      if (id !== null) return id;
      const next = createInstallation(randomBytes);
      const change = { expect: body ?? null, body: JSON.stringify(next), expires_at: null, dispatch: null, now: 0 };
      if (await store.write({ kind: 'put_guard', row: ROW, ...change })) return next;
    }
  };
  return () => {
    found ??= read().catch((error: unknown) => {
      found = null;
      throw error;
    });
    return found;
  };
}
