/** For control operations that do what commands do. */
import { ControlError } from '../../runtime/control/control-error.ts';
import { SecretError } from '../../runtime/platform/secrets/secrets.ts';
import { StoreDamaged } from '../../runtime/store/decode.ts';
import { StoreUnavailable } from '../../runtime/store/store.ts';
import { LinkError } from '../../runtime/table/link-context.ts';
import { SignError } from '../../runtime/verify/sign-body.ts';
import { CliError } from '../base/errors.ts';

const REFUSALS = [SecretError, SignError, LinkError, StoreDamaged];

/** What the compiler, the commands and the store refuse, as a refusal. */
export async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CliError) throw new ControlError('refused', [error.message, ...error.hints].join('; '));
    if (error instanceof StoreUnavailable) throw new ControlError('store_unavailable', error.message);
    if (REFUSALS.some((kind) => error instanceof kind)) throw new ControlError('refused', (error as Error).message);
    throw error;
  }
}
