/**
 * Routes that hold their events: what is accepted is stored, and no work of theirs is taken until the pause ends. A pause is a
 * row of kind `pause` of what the guard keeps, by the lane of the route; when it expires, it has ended.
 */
import type { Pause, PausedRoute } from '../../schemas/built/operations/types.ts';
import { decodeOr, isInstant } from './decode.ts';
import type { GuardRow } from './guard-mutations.ts';
import { laneKey, laneParts } from './identity.ts';

export type {
  Pause,
  PausedRoute,
  PauseRoute,
} from '../../schemas/built/operations/types.ts';

export const pauseOfRoute = (profile: string, route: string | null): Pick<GuardRow, 'kind' | 'key'> => ({
  kind: 'pause',
  key: laneKey(profile, route),
});

/** The pause that lasts at `now`. @param body JSON */
export function readPause(body: string | undefined, now: number): Pause | null {
  const pause = decodeOr<Pause | null>(body, isPause, null);
  return pause === null || (pause.until !== null && pause.until <= now) ? null : pause;
}

export function isPause(value: unknown): value is Pause {
  const { since, until } = (value ?? {}) as Partial<Pause>;
  return isInstant(since) && (until === null || isInstant(until));
}

/** The routes that are paused at `now`. @param rows of kind `pause` */
export function pausedRoutes(rows: readonly GuardRow[], now: number): readonly PausedRoute[] {
  return rows.flatMap(({ key, body }) => {
    const pause = readPause(body, now);
    const { profile, name } = laneParts(key);
    return pause === null || name === null ? [] : [{ profile, route: name, ...pause }];
  });
}
