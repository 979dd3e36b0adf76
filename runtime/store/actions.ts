/** Who has last paused or resumed a route or a job, or reset a session, and when. */
import type { LastAction, RouteRow } from '../../schemas/built/operations/types.ts';
import { isLastAction } from '../../schemas/built/rows/LastAction.ts';
import type { Store } from './contract.ts';
import { decodeOr } from './decode.ts';
import type { GuardRow, PauseRoute } from './records.ts';
import { laneKey, readPause } from './records.ts';

const actionOf = (did: LastAction['did'], { by, at }: Omit<LastAction, 'did'>): LastAction =>
  by === undefined ? { did, at } : { did, by, at };

/** How long an action is known, in ms. */
const KEPT_MS = 365 * 86_400_000;

/** The row of the latest action on a route or job. @param key the lane of the route, or the id of the job */
export function actionRow(key: string, { paused, now: at, ...m }: Pick<PauseRoute, 'paused' | 'by' | 'now'>) {
  const body = JSON.stringify(actionOf(paused ? 'paused' : 'resumed', { ...m, at }));
  return { kind: 'action', key, body, expires_at: at + KEPT_MS } as const;
}

/** Null: damaged, or none. @param body JSON, which may have other members */
function readAction(body: string | undefined): LastAction | null {
  const action = decodeOr<LastAction | null>(body, isLastAction, null);
  return action === null ? null : actionOf(action.did, action);
}

/** The latest actions by the keys of their rows. @param rows of kind `action` */
export const readActions = (rows: readonly GuardRow[]): ReadonlyMap<string, LastAction | null> =>
  new Map(rows.map(({ key, body }) => [key, readAction(body)]));

/** The resets of sessions by their names. */
export const readResets = async (store: Pick<Store, 'read'>) =>
  readActions(await store.read({ kind: 'guard_rows', of: 'session' }));

/** What people have done to a route: its pause, and the latest action. @param now Unix ms */
export async function readRouteActions(store: Pick<Store, 'read'>, now: number): Promise<ActionsOfRoute> {
  const [pauses, actions] = await Promise.all([
    store.read({ kind: 'guard_rows', of: 'pause' }),
    store.read({ kind: 'guard_rows', of: 'action' }),
  ]);
  const paused = new Map(pauses.map(({ key, body }) => [key, readPause(body, now)]));
  const acted = readActions(actions);
  return (profile, route) => {
    const key = laneKey(profile, route);
    return { paused: paused.get(key) ?? null, last_action: acted.get(key) ?? null };
  };
}

export type ActionsOfRoute = (profile: string, route: string) => Pick<RouteRow, 'paused' | 'last_action'>;
