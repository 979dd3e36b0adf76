/** Releases the runs, and gives up the held dispatches, of processes that have ended. */

import type { Ref } from '../identity.ts';
import type { Step } from '../states.ts';
import type { GivenUp, Recovered } from '../work-mutations.ts';
import type { WorkUnit } from './unit.ts';

/** The reason of a dispatch that is dead because its process ended while the sender waited. */
export const UNANSWERED = 'the gateway ended before the delivery was answered: it may have arrived';

/** The step of a run whose process has ended. */
export const interruptedStep = (started_at: number, at: number): Step => ({
  kind: 'run',
  index: null,
  outcome: 'interrupted',
  started_at,
  at,
  next_at: null,
  reason: 'the gateway ended while it was running',
  sent: 0,
  message_id: null,
});

/** A dispatch whose holder does not work on it. `has_begun`: false if the holder never knew that it had taken it. */
export interface LeftWork {
  readonly ref: Ref;
  readonly has_begun: boolean;
}

/** Returns runs to `pending`; a dispatch that was held for its sender is dead. */
export function release(unit: WorkUnit, left: readonly LeftWork[], now: number): Pick<Recovered, 'runs' | 'given_up'> {
  const given_up: GivenUp[] = [];
  let runs = 0;
  for (const { ref, has_begun } of left) {
    const row = unit.rows.work.get(ref);
    // Another gateway has released it already.
    if (row === undefined || row.holder === null) continue;
    if (row.state === 'running') {
      runs++;
      const reason = row.reason === null ? null : (JSON.parse(row.reason) as string);
      const steps = has_begun ? [interruptedStep(row.started_at ?? now, now)] : [];
      unit.move(row, { to: 'pending', at: now, reason, steps });
      continue;
    }
    const { id = '', profile = '', route = null, job = null } = unit.rows.headOf(ref) ?? {};
    unit.move(row, { to: 'dead', at: now, reason: UNANSWERED });
    unit.noteError(ref, now, UNANSWERED);
    given_up.push({ id, profile, route, job, reason: UNANSWERED });
  }
  return { runs, given_up };
}
