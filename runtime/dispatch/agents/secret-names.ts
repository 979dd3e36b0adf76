/** Finds the environment variables that a table's secret references name, so that agents do not inherit them. */
import type { SecretRef } from '../../../schemas/generated/types.ts';

/** Always hidden: the variable of the global secret (§2.4). */
const ALWAYS = ['WEBHOOK_SECRET'];

/** Names of the environment variables that hold these secrets. */
export function secretNames(refs: readonly SecretRef[]): ReadonlySet<string> {
  return new Set([...ALWAYS, ...refs.filter(({ kind }) => kind === 'env').map(({ value }) => value)]);
}
