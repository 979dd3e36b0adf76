/** Approvals that the table asks for, whatever a stored row says: a row of a shared database may have been changed. */
import { own } from '../../base/names.ts';
import type { Dispatch, DispatchDelivery, RouteTable } from '../../schemas/generated/types.ts';
import type { TakenAttempt } from '../store/contract.ts';
import { StoreDamaged } from '../store/decode.ts';
import type { Contents, DeliverableContent } from './contents.ts';
import type { DispatchContext } from './context.ts';

type Plans = Pick<RouteTable, 'routes' | 'jobs'>;

/** The dispatch with these approvals; itself if it has all of them. */
export function withApprovals({ routes, jobs }: Plans, dispatch: Dispatch): Dispatch {
  const { profile, route, job, deliveries, outputs = [] } = dispatch;
  const plan = own(routes, route ?? '') ?? own(jobs, job ?? '');
  if (plan === undefined || plan.profile !== profile) return dispatch;
  let isChanged = false;
  const ask = (delivery: DispatchDelivery, output = delivery.output?.name): DispatchDelivery => {
    const named = (plan.outputs ?? []).filter(({ name }) => name === output).map((each) => each.delivery);
    const planned = output === undefined ? plan.deliver.filter(({ target }) => target === delivery.target) : named;
    const approve_ms = planned.find((each) => each.approve_ms !== undefined)?.approve_ms;
    if (approve_ms === undefined || delivery.approve_ms !== undefined) return delivery;
    isChanged = true;
    return { ...delivery, approve_ms };
  };
  const asked = deliveries.map((delivery) => ask(delivery));
  const named = outputs.map((output) => ({ ...output, delivery: ask(output.delivery, output.name) }));
  return isChanged ? { ...dispatch, deliveries: asked, ...(outputs.length === 0 ? {} : { outputs: named }) } : dispatch;
}

type Asking = Pick<DispatchContext, 'asked'>;

/**
 * The content of a delivery. Only the store has the answer to a message that was shown, so the cached content of one is dropped.
 * @throws StoreDamaged if it needs an approval and has none; one that a person has rejected is returned
 */
export async function loadDelivery(
  contents: Contents,
  { ref, index, unsent }: Pick<TakenAttempt, 'ref' | 'index' | 'unsent'>,
  context: Asking,
): Promise<DeliverableContent | null> {
  const content = await contents.forDelivery(ref, index);
  if (content === null || unsent !== undefined || whyUnapproved(content, context) === null) return content;
  contents.forget(ref);
  const stored = await contents.forDelivery(ref, index);
  const reason = stored === null ? null : whyUnapproved(stored, context);
  if (reason !== null) throw new StoreDamaged(reason);
  return stored;
}

/** Why a delivery must not be sent; null: it needs no approval or has one. */
function whyUnapproved(
  { dispatch, progress: { index, answer } }: DeliverableContent,
  { asked }: Asking,
): string | null {
  const { deliveries } = asked?.(dispatch) ?? dispatch;
  if (deliveries[index]?.approve_ms === undefined || answer?.outcome === 'approved') return null;
  return `delivery ${index} of ${dispatch.id} needs approval, but was neither shown nor approved`;
}
