/** Dispatches as they are read: the columns that lists and single ones share, and how a row of them reads. */
import type { Dispatch } from '../../../schemas/generated/types.ts';
import type { Ref, Step } from '../mutations.ts';
import type { DispatchSummary, StoredDispatch } from '../queries.ts';
import type { DispatchState } from '../states.ts';

export const SUMMARY_COLUMNS =
  'd.ref, d.id, d.profile, d.route, d.job, d.mode, d.accepted_at, d.head, ' +
  'w.state, w.started_at, w.answered_at, w.finished_at, w.reason';

export type SummaryRow = readonly [
  ref: Ref,
  id: string,
  profile: string,
  route: string | null,
  job: string | null,
  mode: string,
  accepted_at: number,
  head: string,
  state: string,
  started_at: number | null,
  answered_at: number | null,
  finished_at: number | null,
  reason: string | null,
];

/** A dispatch as it crosses from the reader thread: its texts are parsed where they are used. */
export interface LoadedRow {
  readonly summary: SummaryRow;
  readonly max_concurrent: number | null;
  readonly body: string;
  readonly answer: string | null;
  readonly steps: readonly string[];
}

/** Null where the dispatch was the only one of its group, or an older version wrote it into the body. */
const supersededOf = (head: string): number | null => (JSON.parse(head) as [string, string, null, number?])[3] ?? null;

export function readSummary(row: SummaryRow): DispatchSummary {
  const [ref, id, profile, route, job, mode, accepted_at, head, state, started_at, answered_at, finished_at] = row;
  const [event, delivery_id, replay_of] = JSON.parse(head) as [string, string, string | null];
  const reason = row[12] === null ? null : (JSON.parse(row[12]) as string);
  return {
    ...{ ref, id, profile, route, job, mode: mode as Dispatch['mode'], event, delivery_id, accepted_at, replay_of },
    ...{ state: state as DispatchState, started_at, answered_at, finished_at, reason },
  };
}

export function readLoaded({ summary, max_concurrent, body, answer, steps }: LoadedRow): StoredDispatch {
  const dispatch = JSON.parse(body) as Dispatch;
  return {
    ...readSummary(summary),
    dispatch: { ...dispatch, superseded: supersededOf(summary[7]) ?? dispatch.superseded },
    max_concurrent,
    answer: answer === null ? null : (JSON.parse(answer) as string),
    steps: steps.map((data) => JSON.parse(data) as Step),
  };
}
