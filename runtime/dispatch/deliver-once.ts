/** One delivery attempt, for the delivery loop and for direct deliveries. */
import type { Dispatch } from '../../schemas/generated/types.ts';
import type { DeliveryOutcome } from '../deliver/deliverer.ts';
import type { DispatchContext } from './context.ts';
import type { Delivery } from './delivery-progress.ts';
import { logFields } from './log-fields.ts';

/** A text on its way, with the dispatch that says where to. */
export interface Content {
  readonly dispatch: Dispatch;
  readonly text: string;
}

/** One attempt. A deliverer that throws all the same has perhaps sent something: nobody can say. */
export async function deliverOnce(
  context: Pick<DispatchContext, 'deliverer' | 'log'>,
  { dispatch, text }: Content,
  progress: Pick<Delivery, 'index' | 'sent' | 'first_attempt_at'>,
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
