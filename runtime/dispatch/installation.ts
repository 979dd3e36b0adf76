/**
 * What an installation makes once, at random, and keeps in its store, the same for all its gateways: its id, which the markers
 * of what it posts hold, and the keys of modules.
 */
import { decodeOr } from '../store/decode.ts';
import type { Store } from '../store/store.ts';
import { createInstallation, isInstallation } from '../table/loop-marker.ts';

export type FindInstallation = () => Promise<string>;

type RandomBytes = (size: number) => Buffer;

/** Returns a function that reads the id, or creates it, once. It rejects with StoreUnavailable, and then tries again. */
export const findInstallation = (store: Pick<Store, 'read' | 'write'>, randomBytes: RandomBytes): FindInstallation =>
  findStored(store, '', isInstallation, () => createInstallation(randomBytes));

/** The same for another text, by its key. */
export function findStored(
  store: Pick<Store, 'read' | 'write'>,
  key: string,
  isValid: (value: unknown) => value is string,
  create: () => string,
): FindInstallation {
  const row = { kind: 'installation', key } as const;
  let found: Promise<string> | null = null;
  const read = async (): Promise<string> => {
    for (;;) {
      const body = (await store.read({ kind: 'guard_rows', of: row.kind })).find((kept) => kept.key === key)?.body;
      const id = body === undefined ? null : decodeOr<string | null>(body, isValid, null);
      if (id !== null) return id;
      const next = create();
      const change = { expect: body ?? null, body: JSON.stringify(next), expires_at: null, dispatch: null, now: 0 };
      if (await store.write({ kind: 'put_guard', row, ...change })) return next;
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
