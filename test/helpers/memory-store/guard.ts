/** What the guard keeps, in the store in memory: runs counted against limits, and rows that are compared and replaced. */

import type { OverLimit } from '../../../runtime/store/contract.ts';
import type { PauseRoute, PutGuard, RunLimit } from '../../../runtime/store/records.ts';
import { addMessage } from './dispatches.ts';
import type { MutationHandlers } from './handlers.ts';
import type { MemoryTables } from './tables.ts';
import { nameOf } from './tables.ts';

export function guardHandlers(tables: MemoryTables): Pick<MutationHandlers, 'put_guard' | 'pause_route'> {
  return { put_guard: (m) => put(tables, m), pause_route: (m) => pause(tables, m) };
}

/** Null: no limit refuses the run, and all have counted it. */
export function countAgainst(tables: MemoryTables, limits: readonly RunLimit[] = [], now: number): OverLimit | null {
  const seen = limits.map((limit) => {
    const { body = '{"times":[],"until":null}' } = tables.guard.get(nameOf(limit.kind, limit.key)) ?? {};
    const { times, until } = JSON.parse(body) as { times: number[]; until: number | null };
    const isPaused = until !== null && until > now && until - now <= limit.pause_ms;
    const recent = times.filter((at) => at > now - limit.within_ms).map((at) => Math.min(now, at));
    return { limit, times: recent, until: isPaused ? until : null };
  });
  const keep = ({ kind, key, within_ms }: RunLimit, times: readonly number[], until: number | null): void => {
    const expires_at = Math.max(now + within_ms, until ?? 0);
    tables.guard.set(nameOf(kind, key), { kind, key, body: JSON.stringify({ times, until }), expires_at });
  };
  const full = seen.find(({ limit, times, until }) => until !== null || times.length >= limit.most);
  if (full === undefined) {
    for (const { limit, times } of seen) keep(limit, [...times, now], null);
    return null;
  }
  const { limit, times } = full;
  if (full.until !== null) return { kind: 'over_limit', limit, until: full.until };
  const until = limit.pause_ms === 0 ? null : now + limit.pause_ms;
  keep(limit, until === null ? [...times.slice(1), now] : [], until);
  return { kind: 'over_limit', limit, until };
}

function put(tables: MemoryTables, { row, expect, body, expires_at, dispatch, now }: PutGuard): boolean {
  const name = nameOf(row.kind, row.key);
  if ((tables.guard.get(name)?.body ?? null) !== expect) return false;
  if (body === null) tables.guard.delete(name);
  else tables.guard.set(name, { ...row, body, expires_at });
  if (dispatch !== null) addMessage(tables, dispatch, now);
  return true;
}

function pause(tables: MemoryTables, { profile, route, paused, until, now }: PauseRoute): null {
  const key = JSON.stringify([profile, route]);
  const since = pauseFor(tables, { profile, route }, now)?.since ?? now;
  const body = JSON.stringify({ since, until });
  if (paused) tables.guard.set(nameOf('pause', key), { kind: 'pause', key, body, expires_at: until });
  else tables.guard.delete(nameOf('pause', key));
  return null;
}

/** The pause of a route that lasts. */
export function pauseFor(
  { guard }: MemoryTables,
  { profile, route }: { readonly profile: string; readonly route: string | null },
  now: number,
): { readonly since: number; readonly until: number | null } | null {
  const { body = null } = guard.get(nameOf('pause', JSON.stringify([profile, route]))) ?? {};
  const pause = body === null ? null : (JSON.parse(body) as { since: number; until: number | null });
  return pause === null || (pause.until ?? now + 1) <= now ? null : pause;
}
