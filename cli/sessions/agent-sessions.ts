/** Sessions in which runs take turns, for the commands that show them. */
import type { BusySession, DispatchSummary, SaidTurn } from '../../runtime/store/queries.ts';
import { formatDuration } from '../output/time.ts';

/** `session, 5 min`; empty where a run waits for nothing but its time. @param now Unix ms */
export const waitText = ({ waits_for, waits_since }: DispatchSummary, now: number): string =>
  waits_for === null ? '' : `${waits_for}${waits_since === null ? '' : `, ${formatDuration(now - waits_since)}`}`;

/** Which run has the turn: `<id> running`. */
export const holderText = ({ run: { id, state, waits_for } }: BusySession): string =>
  `${id} ${waits_for === null ? state : `waits for ${waits_for}`}`;

/** One for `--json`. @param busy null: no run waits or is under way */
export function agentSessionJson(profile: string, id: string, busy: BusySession | null): object {
  const { ref, session, turn, ready_at, ...run } = busy?.run ?? {};
  return { kind: 'agent', id, name: id, profile, run: busy === null ? null : run, waiting: busy?.waiting ?? 0 };
}

/** The turns as those of a chat. */
export const turnsOf = ({ accepted_at, answered_at, prompt, answer }: SaidTurn) => [
  { role: 'user', content: prompt, at: new Date(accepted_at).toISOString() },
  { role: 'assistant', content: answer, at: new Date(answered_at).toISOString() },
];
