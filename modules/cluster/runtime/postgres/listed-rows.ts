/** Reads dispatches: as summaries for lists, and complete ones. */

import type { Step } from '../../../../runtime/store/mutations.ts';
import type { DispatchSummary, StoredDispatch } from '../../../../runtime/store/queries.ts';
import type { Dispatch } from '../../../../schemas/generated/types.ts';

export const LISTED_COLUMNS =
  'd.ref, d.id, d.profile, d.route, d.job, d.mode, d.accepted_at, d.head, coalesce(w.state, e.state) AS state, ' +
  'coalesce(w.started_at, e.started_at) AS started_at, coalesce(w.answered_at, e.answered_at) AS answered_at, ' +
  'e.finished_at, coalesce(w.reason, e.reason) AS reason';
/** A dispatch has a row in either `work` or `ended`. */
export const LISTED_TABLES = 'dispatch d LEFT JOIN work w ON w.ref = d.ref LEFT JOIN ended e ON e.ref = d.ref';
export const STORED =
  `SELECT ${LISTED_COLUMNS}, d.max_concurrent, d.body, a.text AS answer FROM ${LISTED_TABLES} ` +
  'LEFT JOIN answer a ON a.ref = d.ref';

export type ListedRow = Omit<DispatchSummary, 'event' | 'delivery_id' | 'replay_of'> & {
  /** JSON. */
  readonly head: string;
};

export type StoredRow = ListedRow & {
  readonly max_concurrent: number | null;
  /** JSON. */
  readonly body: string;
  readonly answer: string | null;
};

type Head = readonly [event: string, delivery_id: string, replay_of: string | null, superseded: number];

/** Reads a summary from its row. */
export function readListed({ head, ...row }: ListedRow): DispatchSummary {
  const [event, delivery_id, replay_of] = JSON.parse(head) as Head;
  return { ...row, reason: textOf(row.reason), event, delivery_id, replay_of };
}

/** Reads a complete dispatch from its row and steps. */
export function readStored(
  { max_concurrent, body, answer, ...row }: StoredRow,
  steps: readonly Step[],
): StoredDispatch {
  const [, , , superseded] = JSON.parse(row.head) as Head;
  const dispatch = { ...(JSON.parse(body) as Dispatch), superseded };
  return { ...readListed(row), dispatch, max_concurrent, answer: textOf(answer), steps };
}

const textOf = (json: string | null): string | null => (json === null ? null : (JSON.parse(json) as string));
