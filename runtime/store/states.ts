/**
 * The states of a dispatch and the transitions between them, for all engines.
 *
 *   pending ──> running ──> delivering ──> done
 *      ^          │  │           └───────> dead
 *      └──────────┘  └──> done, skipped, dead
 *
 * `pending`: waits for a run, or in its coalesce group. `running`: the agent runs. `delivering`: the answer is stored and
 * is being delivered. `done`, `dead` (given up, with the reason) and `skipped` (nothing to deliver, or superseded) are
 * final: a late writer cannot change them. An interrupted or failed run returns to `pending`. States that begin and end
 * between two changes are not stored, such as a delivery within this process.
 */

export const OPEN_STATES = ['pending', 'running', 'delivering'] as const;
export const FINAL_STATES = ['done', 'dead', 'skipped'] as const;
export const DISPATCH_STATES = [...OPEN_STATES, ...FINAL_STATES] as const;

export type OpenState = (typeof OPEN_STATES)[number];
export type FinalState = (typeof FINAL_STATES)[number];
export type DispatchState = OpenState | FinalState;

/** The states from which each state can be reached. */
export const REACHED_FROM: Readonly<Record<DispatchState, readonly OpenState[]>> = {
  pending: ['pending', 'running'],
  running: ['pending', 'running'],
  delivering: ['pending', 'running', 'delivering'],
  done: ['pending', 'running', 'delivering'],
  dead: ['pending', 'running', 'delivering'],
  skipped: ['pending', 'running'],
};

/** Whether the transition is allowed. A dispatch is done only with an answer, stored before or with this change. */
export function canAdvance(
  from: DispatchState,
  { to, answer }: { readonly to: DispatchState; readonly answer?: string },
): boolean {
  if (to === 'done' && from !== 'delivering' && answer === undefined) return false;
  return (REACHED_FROM[to] as readonly DispatchState[]).includes(from);
}

export function isFinal(state: DispatchState): state is FinalState {
  return (FINAL_STATES as readonly DispatchState[]).includes(state);
}
