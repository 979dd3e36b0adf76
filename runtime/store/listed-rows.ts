/** Turns the stored rows of dispatches into summaries for lists, and into complete dispatches. */
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { Step } from './mutations.ts';
import type { DispatchSummary, StoredDispatch } from './queries.ts';

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
