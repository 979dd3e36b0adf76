/** The connection of a change inside its transaction. */
import type { PgConnection, PgValue } from './driver.ts';

export interface Scope {
  readonly db: PgConnection;
  /** This gateway's row in `node`. */
  readonly node: number;
  /** Sends a statement whose result is not needed, without waiting. If it fails, so does the transaction. */
  readonly send: (sql: string, values: readonly PgValue[]) => void;
}

export interface OpenScope {
  readonly scope: Scope;
  /**
   * Waits for `last` and for everything sent; resolves like `last`. Rejects with the first failure, because later ones only
   * say that the transaction has failed.
   */
  readonly settle: <T>(last: Promise<T>) => Promise<T>;
}

/** Opens the scope of one transaction. */
export function openScope(db: PgConnection, node: number): OpenScope {
  const sent: Promise<unknown>[] = [];
  const send: Scope['send'] = (sql, values) => {
    const change = db.change(sql, values);
    // `settle` reports the failure.
    change.catch(() => {});
    sent.push(change);
  };
  return {
    scope: { db, node, send },
    async settle(last) {
      const [result] = await Promise.allSettled([last]);
      await allOf(sent);
      if (result.status === 'rejected') throw result.reason;
      return result.value;
    },
  };
}

/** Waits for all; then rejects with the first failure, because later ones only say that the transaction has failed. */
export async function allOf(sent: readonly Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(sent);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
