/** Finds the environment variables that a table's secret references name, so that agents do not inherit them. */
import type { SecretRef } from '../../../schemas/generated/types.ts';

/** Every secret reference anywhere in `plan`: a reference is the only object with these three fields. */
export function collectSecretRefs(plan: unknown): readonly SecretRef[] {
  if (typeof plan !== 'object' || plan === null) return [];
  if (isSecretRef(plan)) return [plan];
  return Object.values(plan).flatMap(collectSecretRefs);
}

function isSecretRef(value: object): value is SecretRef {
  const { kind, value: text, scope } = value as Readonly<Record<string, unknown>>;
  const known = kind === 'literal' || kind === 'env' || kind === 'file';
  return known && typeof text === 'string' && typeof scope === 'string' && Object.keys(value).length === 3;
}

/** Always hidden, whether or not a reference names it: the global secret's variable (§2.4). */
const ALWAYS = ['WEBHOOK_SECRET'];

export function secretNames(refs: readonly SecretRef[]): ReadonlySet<string> {
  return new Set([...ALWAYS, ...refs.filter(({ kind }) => kind === 'env').map(({ value }) => value)]);
}
