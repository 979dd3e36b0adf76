/**
 * The rows of the guard in the store in memory: runs counted against limits, and rows that are compared and replaced.
 */

import type { PauseRoute, PutGuard } from '../../../runtime/store/records.ts';
import type { GuardRows } from '../../../runtime/store/run-limits.ts';
import type { LastAction } from '../../../schemas/built/operations/types.ts';
import { addMessage } from './dispatches.ts';
import type { MutationHandlers } from './handlers.ts';
import type { MemoryTables } from './tables.ts';
import { addAction, move, nameOf } from './tables.ts';

export function guardHandlers(tables: MemoryTables): Pick<MutationHandlers, 'put_guard' | 'pause_route'> {
  return { put_guard: (m) => put(tables, m), pause_route: (m) => pause(tables, m) };
}

/** The rows of the guard, for the run counter. */
export const guardRows = ({ guard }: MemoryTables): GuardRows => ({
  guardRow: ({ kind, key }) => guard.get(nameOf(kind, key))?.body,
  putGuardRow: (row, expires_at) => void guard.set(nameOf(row.kind, row.key), { ...row, expires_at }),
});

function put(tables: MemoryTables, { row, expect, body, expires_at, dispatch, held, by, now }: PutGuard): boolean {
  const name = nameOf(row.kind, row.key);
  if ((tables.guard.get(name)?.body ?? null) !== expect) return false;
  if (body === null) tables.guard.delete(name);
  else tables.guard.set(name, { ...row, body, expires_at });
  if (dispatch !== null) addMessage(tables, dispatch, now);
  const run = tables.dispatches.get(held?.ref ?? 0);
  if (run?.state !== 'pending') return true;
  if (by !== undefined) addAction(run, held?.drop === true ? 'dropped' : 'released', by, now);
  move(tables, run, held?.drop === true ? 'skipped' : 'pending');
  Object.assign(run, held?.drop === true ? { finished_at: now, reason: 'loop' } : { due_at: now, set_at: now });
  return true;
}

function pause(tables: MemoryTables, { profile, route, paused, until, by, now }: PauseRoute): null {
  const key = JSON.stringify([profile, route]);
  const held = pauseFor(tables, { profile, route }, now);
  const since = (until === null ? held?.since : null) ?? now;
  const body = JSON.stringify({ since, until, by });
  if (paused) tables.guard.set(nameOf('pause', key), { kind: 'pause', key, body, expires_at: until });
  else tables.guard.delete(nameOf('pause', key));
  if (paused || held !== null)
    noteAction(tables, key, { did: paused ? 'paused' : 'resumed', ...(by && { by }), at: now });
  return null;
}

/** Keeps for a year who has done the latest of these actions. @param key of a route or job */
export function noteAction(tables: MemoryTables, key: string, action: LastAction): void {
  const expires_at = action.at + 365 * 24 * 3_600_000;
  tables.guard.set(nameOf('action', key), { kind: 'action', key, body: JSON.stringify(action), expires_at });
}

/** The pause of a route that is in effect. */
export function pauseFor(
  { guard }: MemoryTables,
  { profile, route }: { readonly profile: string; readonly route: string | null },
  now: number,
): { readonly since: number; readonly until: number | null } | null {
  const { body = null } = guard.get(nameOf('pause', JSON.stringify([profile, route]))) ?? {};
  const pause = body === null ? null : (JSON.parse(body) as { since: number; until: number | null });
  return pause === null || (pause.until ?? now + 1) <= now ? null : pause;
}
