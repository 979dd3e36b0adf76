/** Removes old ended dispatches and expired delivery ids, a slice at a time. */

import type { Ref } from '../../../../runtime/store/identity.ts';
import { laneKey } from '../../../../runtime/store/identity.ts';
import type { Cleanup, ExpireClaims, MutationResults, Trim } from '../../../../runtime/store/mutations.ts';
import { ADD_COUNTS, CountChanges, ROW_BYTES } from './tables.ts';
import type { Scope } from './transact.ts';

interface OldRow {
  readonly ref: Ref;
  readonly finished_at: number | null;
  readonly accepted_at: number;
  readonly profile: string;
  readonly route: string | null;
  readonly bytes: number;
}

/** The sizes are computed without reading the texts. The newest row is kept, as in every engine. */
// Of the steps, those with the end of a program are counted (store-unit.ts).
const SLICE =
  'SELECT d.ref, e.finished_at, d.accepted_at, d.profile, d.route, octet_length(d.body) + ' +
  'coalesce(octet_length(a.text), 0) + coalesce(octet_length(a.program), 0) + coalesce((SELECT sum(octet_length(s.data)) ' +
  `FROM step s WHERE s.ref = d.ref AND strpos(s.data, '"program":') > 0), 0)::integer + ${ROW_BYTES} AS bytes FROM dispatch d %JOIN ended e ON e.ref = d.ref ` +
  'LEFT JOIN answer a ON a.ref = d.ref WHERE d.ref > $1 AND d.ref < (SELECT max(ref) FROM dispatch) ORDER BY d.ref LIMIT $2';
const ALL = SLICE.replace('%', 'LEFT ');
const ENDED = SLICE.replace('%', '');
const REMOVE = ['dispatch', 'ended', 'answer', 'step', 'message', 'usage'].map(
  (table) => `DELETE FROM ${table} WHERE ref = ANY($1::bigint[])`,
);
const BYTES = 'SELECT coalesce(sum(bytes), 0)::bigint AS bytes FROM tally';
const LAST_CLAIM = 'SELECT key FROM claim WHERE key > $1 ORDER BY key LIMIT 1 OFFSET $2';
const EXPIRE = 'DELETE FROM claim WHERE key > $1 AND key <= $2 AND expires_at <= $3';
const EXPIRE_GUARD = 'DELETE FROM guard_state WHERE expires_at <= $1';
const EXPIRE_REST = 'DELETE FROM claim WHERE key > $1 AND expires_at <= $2';

/** Removes ended dispatches of one slice that are old enough. */
export async function cleanup(scope: Scope, { before, after, limit }: Cleanup): Promise<MutationResults['cleanup']> {
  const found = await scope.db.query<OldRow>(ALL, [after, limit]);
  const old = found.filter(({ finished_at }) => finished_at !== null && finished_at < before);
  await remove(scope, old);
  const last = found.at(-1);
  // Later rows were accepted, and so have ended, after `before`.
  const more = last !== undefined && found.length === limit && last.accepted_at < before;
  return { removed: old.length, next: more ? last.ref : null };
}

/** Removes the oldest ended dispatches while the store is too large. */
export async function trim(scope: Scope, { max_bytes, limit }: Trim): Promise<MutationResults['trim']> {
  const [total] = await scope.db.query<{ bytes: number }>(BYTES);
  let bytes = total?.bytes ?? 0;
  if (bytes <= max_bytes) return { removed: 0, bytes };
  const old: OldRow[] = [];
  for (const row of await scope.db.query<OldRow>(ENDED, [0, limit])) {
    if (bytes <= max_bytes) break;
    bytes -= row.bytes;
    old.push(row);
  }
  await remove(scope, old);
  return { removed: old.length, bytes };
}

async function remove({ db, node }: Scope, old: readonly OldRow[]): Promise<void> {
  if (old.length === 0) return;
  const counts = new CountChanges();
  for (const { profile, route, bytes } of old) {
    counts.add(laneKey(profile, route), 'removed', 1);
    counts.add(laneKey(profile, route), 'bytes', -bytes);
  }
  const refs = old.map(({ ref }) => ref);
  await Promise.all(REMOVE.map((sql) => db.change(sql, [refs])));
  await db.change(ADD_COUNTS, [JSON.stringify(counts.rows(node))]);
}

/** Removes expired delivery ids of one slice. */
export async function expireClaims(
  { db }: Scope,
  { now, after, limit }: ExpireClaims,
): Promise<MutationResults['expire_claims']> {
  if (after === '') await db.change(EXPIRE_GUARD, [now]);
  const [last] = await db.query<{ key: string }>(LAST_CLAIM, [after, limit - 1]);
  if (last === undefined) return { removed: await db.change(EXPIRE_REST, [after, now]), next: null };
  return { removed: await db.change(EXPIRE, [after, last.key, now]), next: last.key };
}
