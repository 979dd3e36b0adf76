/** Refusals: of an operation, in the words of its answer. */

import { ControlError } from '../../runtime/control/control-error.ts';
import { SecretError } from '../../runtime/platform/secrets/secrets.ts';
import { StoreDamaged } from '../../runtime/store/decode.ts';
import { StoreUnavailable } from '../../runtime/store/store.ts';
import { LinkError } from '../../runtime/table/link-context.ts';
import { SignError } from '../../runtime/verify/sign-body.ts';
import type { RefusedSwap } from '../../schemas/built/operations/types.ts';
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

/** `the new table is refused: 3 lost, 1 changed of 1000 kept requests`. */
export function refusalText({ total, lost, gained, changed }: RefusedSwap): string {
  const counts = [`${lost} lost`, `${gained} gained`, `${changed} changed`].filter((text) => !text.startsWith('0 '));
  return `the new table is refused: ${counts.join(', ')} of ${total} kept ${total === 1 ? 'request' : 'requests'}`;
}
