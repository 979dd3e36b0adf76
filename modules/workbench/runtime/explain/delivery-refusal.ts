/** Why a delivery would fail before anything is sent: asks the drivers of its targets, of which none is contacted. */
import { createDeliverer } from '../../../../runtime/deliver/create-deliverer.ts';
import type { DeliveryContext } from '../../../../runtime/deliver/driver.ts';
import { DeliveryRefusal } from '../../../../runtime/deliver/http/values.ts';
import { linkTargets, loadDrivers } from '../../../../runtime/deliver/link-targets.ts';
import type { SecretResolver } from '../../../../runtime/platform/secrets/secrets.ts';
import type { RouteTable } from '../../../../schemas/generated/types.ts';
import type { RefusesDelivery } from './explain-services.ts';
import { lenient } from './lenient-secrets.ts';

/** @param secrets those that are missing stand as their references */
export async function linkRefusal(
  table: RouteTable,
  secrets: SecretResolver,
  context: DeliveryContext,
): Promise<RefusesDelivery> {
  const drivers = await loadDrivers(table, context);
  const { linked, problems } = linkTargets(table, lenient(secrets), context, drivers);
  const deliverer = createDeliverer({ linked, context, mirror: async () => {} });
  return async (profile, asked, text) => {
    // Where a reference stands for the secret, it may not have the secret's form: what is sent then is not known.
    const isUnknown = problems.some((problem) => problem.profile === profile && problem.target === asked.target);
    if (isUnknown || isOpenHome(table, secrets, profile, asked)) return null;
    if (text === null) return deliverer.refusal(profile, asked);
    const message = {
      ...asked,
      profile,
      text,
      key: 'x',
      route: 'x',
      delivery_id: 'x',
      sent: 0,
      first_attempt_at: null,
    };
    try {
      await deliverer.show({ ...message, mirror_to_session: false, signal: NEVER });
      return null;
    } catch (error) {
      if (error instanceof DeliveryRefusal) return error.message;
      throw error;
    }
  };
}

const NEVER = new AbortController().signal;

/** Whether the chat is a home channel whose reference cannot be resolved here. */
function isOpenHome(
  { profiles }: RouteTable,
  secrets: SecretResolver,
  profile: string,
  { target, extra }: Parameters<RefusesDelivery>[1],
): boolean {
  const ref = profiles[profile]?.targets[target]?.credentials.home_channel;
  if (ref === undefined || Object.hasOwn(extra, 'chat_id')) return false;
  try {
    secrets.resolve(ref, 'home_channel');
    return false;
  } catch {
    return true;
  }
}
