/** Approvals that the table asks for, whatever a stored row says: a row of a shared database may have been changed. */
import type { Dispatch, DispatchDelivery, RouteTable } from '../../schemas/generated/types.ts';

type Plans = Pick<RouteTable, 'routes' | 'jobs'>;

/** The dispatch with these approvals; itself if it has all of them. */
export function withApprovals({ routes, jobs }: Plans, dispatch: Dispatch): Dispatch {
  const { profile, route, job, deliveries, outputs = [] } = dispatch;
  const plan = own(routes, route) ?? own(jobs, job);
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

const own = <Plan>(plans: Readonly<Record<string, Plan>>, name: string | null): Plan | undefined =>
  name !== null && Object.hasOwn(plans, name) ? plans[name] : undefined;
