/** Reads dispatches: as summaries for lists, and complete ones. */
import type { Dispatch } from '../../../schemas/generated/types.ts';
import type { Ref, Step } from '../mutations.ts';
import type { DispatchSummary, StoredDispatch } from '../queries.ts';
import type { DispatchState } from '../states.ts';
import type { Connection } from './driver.ts';
import { stepIds } from './rows.ts';

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

/** Null when an older version kept it in the body. */
const supersededOf = (head: string): number | null => (JSON.parse(head) as [string, string, null, number?])[3] ?? null;

/** Reads a summary from its row. */
export function readSummary(row: SummaryRow): DispatchSummary {
  const [ref, id, profile, route, job, mode, accepted_at, head, state, started_at, answered_at, finished_at] = row;
  const [event, delivery_id, replay_of] = JSON.parse(head) as [string, string, string | null];
  const reason = row[12] === null ? null : (JSON.parse(row[12]) as string);
  return {
    ...{ ref, id, profile, route, job, mode: mode as Dispatch['mode'], event, delivery_id, accepted_at, replay_of },
    ...{ state: state as DispatchState, started_at, answered_at, finished_at, reason },
  };
}

/** Returns a function that loads a complete dispatch; null when there is none with this ref. */
export function createLoad(db: Connection): (ref: Ref) => StoredDispatch | null {
  const one = db.query<readonly [...SummaryRow, number | null, string, string | null]>(
    `SELECT ${SUMMARY_COLUMNS}, d.max_concurrent, d.body, a.text FROM dispatch d JOIN work w USING (ref) ` +
      'LEFT JOIN answer a USING (ref) WHERE d.ref = ?',
  );
  const steps = db.query<[string]>('SELECT data FROM step WHERE id BETWEEN ? AND ? ORDER BY id');
  return (ref) => {
    const row = one.get(ref);
    if (row === undefined) return null;
    const [, , , , , , , head, , , , , , max_concurrent, body, answer] = row;
    const dispatch = JSON.parse(body) as Dispatch;
    return {
      ...readSummary(row.slice(0, 13) as unknown as SummaryRow),
      dispatch: { ...dispatch, superseded: supersededOf(head) ?? dispatch.superseded },
      max_concurrent,
      answer: answer === null ? null : (JSON.parse(answer) as string),
      steps: steps.all(...stepIds(ref)).map(([data]) => JSON.parse(data) as Step),
    };
  };
}
