/** Pausing routes and jobs. */
import type { ApiContext } from './call-operation.ts';
import { callOperation, jobId, notOne } from './call-operation.ts';
import type { PauseState } from './generated/api.ts';

export const RESUMED: PauseState = { paused: false, until: null };

/** @param seconds undefined: until it is resumed */
export const pausedFor = ({ clock }: ApiContext, seconds: number | undefined): PauseState => ({
  paused: true,
  until: seconds === undefined ? null : Math.round(clock.now() + seconds * 1000),
});

export async function setRoute(
  context: ApiContext,
  { name, profile }: { readonly name: string; readonly profile: string },
  state: PauseState,
): Promise<PauseState> {
  const routes = await callOperation(context, 'routes_list', {});
  if (!routes.some((route) => route.name === name && route.profile === profile)) throw notOne('route', name, 'unknown');
  await callOperation(context, 'store_write', {
    kind: 'pause_route',
    profile,
    route: name,
    ...state,
    now: context.clock.now(),
  });
  return state;
}

export async function setJob(context: ApiContext, id: string, state: PauseState): Promise<PauseState> {
  const job = await jobId(context, id);
  await callOperation(context, 'store_write', { kind: 'pause_job', job, ...state, now: context.clock.now() });
  return state;
}
