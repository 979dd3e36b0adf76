/**
 * Encodes changes for an engine: a small JSON text for each change, and separately its large texts in the form in which
 * the tables keep them. So a body is serialized once and never parsed in between.
 */
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { Head } from './decode.ts';
import { laneParts, turnKey } from './identity.ts';
import type { Mutation, MutationKind, MutationResults } from './mutations.ts';

/** The fields of a dispatch that have columns; the rest is in its body. */
export type DispatchHead = Pick<
  Dispatch,
  'id' | 'profile' | 'route' | 'job' | 'mode' | 'event' | 'delivery_id' | 'accepted_at' | 'replay_of'
> & {
  readonly agent: string | null;
  /** It is a part of a burst that is kept whole. */
  readonly burst: boolean;
  /** See `turnKey`. */
  readonly turn_key: string | null;
  readonly targets: readonly HeadTarget[];
};

/** The target of a delivery, with its name as written, and how long it waits for a person. */
export type HeadTarget = Pick<Dispatch['deliveries'][number], 'target' | 'label' | 'approve_ms'>;

/** A change with its dispatch reduced to the head. */
export type Headed<M> = M extends { readonly dispatch: Dispatch | null }
  ? Omit<M, 'dispatch'> & { readonly dispatch: DispatchHead | Extract<M['dispatch'], null> }
  : M extends { readonly kind: 'advance' }
    ? Omit<M, 'dispatch'> & { readonly dispatch?: DispatchHead }
    : M;

/** The large texts of a change, as JSON. */
export interface LargeTexts {
  readonly body: string | null;
  readonly answer: string | null;
}

/** The JSON of the headed change, the body and the answer. */
export type EncodedChange = readonly [change: string, body: string | null, answer: string | null];

export type CommitResult =
  | { readonly kind: 'ok'; readonly value: MutationResults[MutationKind] }
  /**
   * `unavailable`: the medium failed; a retry may succeed. `failed`: this change can never be stored.
   * `in_doubt`: the medium failed during the commit, and still does.
   */
  | { readonly kind: 'unavailable' | 'in_doubt' | 'failed'; readonly message: string };

export function encodeChange(mutation: Mutation): EncodedChange {
  const dispatch = 'dispatch' in mutation ? (mutation.dispatch ?? null) : null;
  const answer = answerOf(mutation);
  const small = {
    ...mutation,
    ...(dispatch === null ? {} : { dispatch: headOf(dispatch) }),
    ...(mutation.kind === 'advance' && answer !== null ? { answer: '' } : {}),
    ...(mutation.kind === 'accept' && answer !== null ? { work: { ...mutation.work, answer: '' } } : {}),
  };
  return [
    JSON.stringify(small),
    dispatch === null ? null : JSON.stringify(dispatch),
    answer === null ? null : JSON.stringify(answer),
  ];
}

/** Decodes a change, without its large texts. */
export const decodeChange = ([change]: EncodedChange): Headed<Mutation> => JSON.parse(change) as Headed<Mutation>;

export function headOf(dispatch: Dispatch): DispatchHead {
  const { id, profile, route, job, mode, event, delivery_id, accepted_at, replay_of, agent = null } = dispatch;
  const targets = headTargets(dispatch);
  const turn_key = turnKey(dispatch);
  const burst = dispatch.burst != null;
  return { id, profile, route, job, mode, event, delivery_id, accepted_at, replay_of, agent, burst, turn_key, targets };
}

/** The JSON of the columns that lists show besides those of the row. */
export function headText(head: DispatchHead, superseded: number): string {
  const { event, delivery_id, replay_of, agent, turn_key } = head;
  const session = turn_key === null ? null : laneParts(turn_key).name;
  return JSON.stringify([event, delivery_id, replay_of, superseded, agent, session] satisfies Head);
}

export const headTargets = ({ deliveries }: Dispatch): readonly HeadTarget[] =>
  deliveries.map(({ target, label, approve_ms }) => ({
    target,
    ...(label === undefined ? {} : { label }),
    ...(approve_ms === undefined ? {} : { approve_ms }),
  }));

function answerOf(mutation: Mutation): string | null {
  if (mutation.kind === 'advance') return mutation.answer ?? null;
  if (mutation.kind === 'accept' && mutation.work.kind === 'deliveries') return mutation.work.answer;
  return null;
}
