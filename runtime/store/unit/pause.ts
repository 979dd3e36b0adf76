/** Pauses routes, and says whether one is paused. */
import { guardKey } from '../guard-mutations.ts';
import type { Pause, PauseRoute } from '../pauses.ts';
import { pauseOfRoute, readPause } from '../pauses.ts';
import { putGuardRow } from './guard.ts';
import type { WorkUnit } from './unit.ts';

/** A pause that lasts keeps its beginning. */
export function changePause(unit: WorkUnit, { profile, route, paused, until, now }: PauseRoute): null {
  const { since = now } = pauseOf(unit, { profile, route }, now) ?? {};
  const body = paused ? JSON.stringify({ since, until } satisfies Pause) : null;
  putGuardRow(unit, { ...pauseOfRoute(profile, route), body }, paused ? until : null);
  return null;
}

/** The pause of the dispatch's route; null: it is not paused. */
export function pauseOf(
  { rows }: WorkUnit,
  { profile, route }: { readonly profile: string; readonly route: string | null },
  now: number,
): Pause | null {
  return readPause(rows.guard.get(rows.keyOf(guardKey(pauseOfRoute(profile, route)))), now);
}
