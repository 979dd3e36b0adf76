/** The columns that lists and single dispatches share, and how a row of them reads. */
import type { Dispatch } from '../../../schemas/generated/types.ts';
import type { Ref } from '../mutations.ts';
import type { DispatchState } from '../states.ts';
import type { DispatchSummary } from '../store.ts';

export const SUMMARY_COLUMNS =
  'd.ref, d.id, d.profile, d.route, d.job, d.mode, d.accepted_at, d.head, ' +
  'w.state, w.started_at, w.answered_at, w.finished_at, w.reason';

export type SummaryRow = readonly [
  ref: Ref,
  id: string,
  profile: string,
  route: string | null,
  job: string | null,
  mode: Dispatch['mode'],
  accepted_at: number,
  head: string,
  state: DispatchState,
  started_at: number | null,
  answered_at: number | null,
  finished_at: number | null,
  reason: string | null,
];

export function readSummary(row: SummaryRow): DispatchSummary {
  const [ref, id, profile, route, job, mode, accepted_at, head, state, started_at, answered_at, finished_at] = row;
  const [event, delivery_id, replay_of] = JSON.parse(head) as [string, string, string | null];
  const reason = row[12] === null ? null : (JSON.parse(row[12]) as string);
  return {
    ...{ ref, id, profile, route, job, mode, event, delivery_id, accepted_at, replay_of },
    ...{ state, started_at, answered_at, finished_at, reason },
  };
}
