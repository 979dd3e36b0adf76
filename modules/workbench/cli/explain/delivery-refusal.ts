/** Asks the target's driver whether a delivery to an address could succeed; nothing is sent. */

import type { CliContext } from '../../../../cli/base/context.ts';
import type { SecretResolver } from '../../../../runtime/platform/secrets/secrets.ts';
import type { RouteTable } from '../../../../schemas/generated/types.ts';
import type { RefusesDelivery } from '../../runtime/explain/dry-dispatcher.ts';

type Machine = Pick<CliContext, 'home' | 'env' | 'clock'>;

/** Credentials may be missing: an address is verified without them. */
export function deliveryRefusal(context: Machine, table: RouteTable, secrets: SecretResolver): RefusesDelivery {
  let drivers: Promise<RefusesDelivery> | null = null;
  return async (profile, delivery) => {
    drivers ??= linkDrivers(context, table, secrets);
    return (await drivers)(profile, delivery);
  };
}

/** Loaded only when a route delivers directly: it pulls in every driver. */
async function linkDrivers(context: Machine, table: RouteTable, secrets: SecretResolver): Promise<RefusesDelivery> {
  const [{ linkTargets }, { createDeliverer }, { createDeliveryContext }, { lenient }, { runProcess }, { silentLog }] =
    await Promise.all([
      import('../../../../runtime/deliver/link-targets.ts'),
      import('../../../../runtime/deliver/create-deliverer.ts'),
      import('../../../../runtime/deliver/delivery-context.ts'),
      import('../../../../cli/deliver/link-one.ts'),
      import('../../../../runtime/platform/process/run-process.ts'),
      import('../../../../runtime/platform/log.ts'),
    ]);
  const { home, env, clock } = context;
  const run = (request: Parameters<typeof runProcess>[0]): ReturnType<typeof runProcess> => runProcess(request, clock);
  const delivery = createDeliveryContext({ home, env, clock, log: silentLog, run });
  const { linked } = linkTargets(table, lenient(secrets), delivery.context);
  await delivery.close();
  const deliverer = createDeliverer({ linked, context: delivery.context, mirror: async () => {} });
  return (profile, asked) => deliverer.refusal(profile, asked);
}
