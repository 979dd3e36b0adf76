/** The control operation and the `doctor` check of the module. */

import { gatewayCheck } from '../../../cli/base/check.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import type { CheckDamage, ServedGateway } from '../../../cli/base/module.ts';
import { refusing } from '../../../cli/serve/reloader.ts';
import { ControlError } from '../../../runtime/control/control-error.ts';
import type { HandlersOf } from '../../../runtime/control/operations.ts';
import { storePath } from '../../../runtime/store/store-path.ts';

export const rescueOperations = ({ context, service }: ServedGateway<CliContext>): HandlersOf<'rescue'> => ({
  async store_back_up({ to }) {
    if (service.store.shared !== null)
      throw new ControlError('refused', 'the store is a database: copy it with pg_dump');
    const { copyStore } = await import('../runtime/rescue.ts');
    return refusing(() => copyStore(storePath(context.home), to));
  },
});

export const checkDamage: CheckDamage = ({ at, message, copy }) => {
  const copyText = copy === null ? '' : `; the damaged file was moved to ${copy}`;
  const detail = `${new Date(at).toISOString()}: ${message}${copyText}`;
  const remove = copy === null ? '' : '; remove the copy when you no longer need it, which ends this report';
  const fix = `check the disk, and ask the senders to resend the events that are missing${remove}`;
  return gatewayCheck({ subject: 'store', check: 'undamaged', status: 'failed', detail, fix });
};
