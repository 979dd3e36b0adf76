/** One call of the deliverer, for attempts and for direct deliveries. */
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { DeliveryOutcome } from '../deliver/deliverer.ts';
import type { Step } from '../store/mutations.ts';
import type { DispatchContext } from './context.ts';
import { logFields } from './log-fields.ts';

/** A text on its way, with the dispatch that says where to. */
export interface Content {
  readonly dispatch: Dispatch;
  readonly text: string;
}

/** How far one delivery of a dispatch has come. */
export interface DeliveryProgress {
  readonly index: number;
  readonly attempts: number;
  /** Pieces that have arrived. */
  readonly sent: number;
  /** Unix ms. */
  readonly first_attempt_at: number | null;
}

/** Read from the recorded steps of its dispatch. */
export function progressOf(index: number, steps: readonly Step[]): DeliveryProgress {
  const made = steps.filter((step) => step.kind === 'delivery' && step.index === index);
  const first_attempt_at = made[0]?.started_at ?? null;
  return { index, attempts: made.length, sent: made.at(-1)?.sent ?? 0, first_attempt_at };
}

/** One attempt. When a deliverer throws, which none should, it is unknown whether something was sent. */
export async function deliverOnce(
  context: Pick<DispatchContext, 'deliverer' | 'log'>,
  { dispatch, text }: Content,
  progress: DeliveryProgress,
  signal: AbortSignal,
): Promise<DeliveryOutcome> {
  const { index, sent, first_attempt_at } = progress;
  const address = dispatch.deliveries[index];
  if (address === undefined) throw new Error(`dispatch ${dispatch.id} has no delivery ${index}`);
  try {
    return await context.deliverer.deliver({
      key: `${dispatch.id}:${index}`,
      profile: dispatch.profile,
      route: dispatch.route ?? '',
      delivery_id: dispatch.delivery_id,
      target: address.target,
      extra: address.extra,
      unresolved: address.unresolved,
      text,
      sent,
      first_attempt_at,
      mirror_to_session: dispatch.mirror_to_session,
      signal,
    });
  } catch (error) {
    context.log.error({ ...logFields(dispatch), target: address.target, err: error }, 'the deliverer failed');
    return {
      kind: 'ambiguous',
      reason: 'internal error',
      retry_after_ms: null,
      idempotent: false,
      attempted: true,
      sent,
    };
  }
}
