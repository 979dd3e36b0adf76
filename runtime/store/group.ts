/**
 * The coalesce group as a state machine (§3.2), for all engines.
 *
 *   none ── event ──> pending(first_at, due_at, superseded 0)
 *   pending ── event ──> pending(same first_at, later due_at, superseded + 1)
 *   pending ── due_at passes, or a flush ──> none, and its latest event runs
 *
 * `due_at` is the end of the quiet window, but never later than `max_wait_ms` after the group's first event.
 */

export interface GroupLimits {
  readonly window_ms: number;
  readonly max_wait_ms: number;
}

export interface Group {
  /** Unix ms of the group's first event. */
  readonly first_at: number;
  /** Unix ms at which the latest event is run. */
  readonly due_at: number;
  /** Number of events that the latest one has replaced. */
  readonly superseded: number;
}

/** The group after an event at `now`; the limits of the latest event apply. */
export function joinGroup(
  group: Pick<Group, 'first_at' | 'superseded'> | null,
  now: number,
  { window_ms, max_wait_ms }: GroupLimits,
): Group {
  // A later instant means that the clock was set back: then the longest wait starts now.
  const first_at = Math.min(group?.first_at ?? now, now);
  return {
    first_at,
    due_at: Math.min(now + window_ms, first_at + max_wait_ms),
    superseded: group === null ? 0 : group.superseded + 1,
  };
}

/** The first line of a prompt that stands for several events, with the blank line after it; empty for one event. */
export function supersededNote(superseded: number): string {
  if (superseded === 0) return '';
  const events = superseded === 1 ? '1 earlier event' : `${superseded} earlier events`;
  return `[${events} for this entity ${superseded === 1 ? 'was' : 'were'} superseded by this one.]\n\n`;
}
