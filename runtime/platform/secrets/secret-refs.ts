/** Finds the secret references of a table, whose values are read before it is linked and must never be shown. */
import type { RoutePlan, RouteTable, SecretRef } from '../../../schemas/generated/types.ts';

export function collectSecretRefs(plan: unknown): readonly SecretRef[] {
  if (typeof plan !== 'object' || plan === null) return [];
  if (isSecretRef(plan)) return [plan];
  return Object.values(plan).flatMap(collectSecretRefs);
}

/** All references of a table. Of its routes, which may be very many, only the fields with references are searched. */
export function tableSecretRefs(
  table: Pick<RouteTable, 'profiles' | 'server' | 'routes'> & Partial<Pick<RouteTable, 'gateway'>>,
): readonly SecretRef[] {
  const { profiles, server, gateway, routes } = table;
  return [...collectSecretRefs([profiles, server, gateway]), ...Object.values(routes).flatMap(routeSecretRefs)];
}

export function routeSecretRefs({ secrets, verify_token }: RoutePlan): readonly SecretRef[] {
  const refs = secrets.map(({ ref }) => ref);
  return verify_token === null ? refs : [...refs, verify_token];
}

/** A reference is the only object of a table with these three fields. */
export function isSecretRef(value: object): value is SecretRef {
  const { kind, value: text, scope } = value as Readonly<Record<string, unknown>>;
  const known = kind === 'literal' || kind === 'env' || kind === 'file';
  return known && typeof text === 'string' && typeof scope === 'string' && Object.keys(value).length === 3;
}

/** Always hidden from agents: the variable of the global secret (§2.4). */
const ALWAYS = ['WEBHOOK_SECRET'];

/** Names of the environment variables that hold these secrets, so that agents do not inherit them. */
export function secretNames(refs: readonly SecretRef[]): ReadonlySet<string> {
  return new Set([...ALWAYS, ...refs.filter(({ kind }) => kind === 'env').map(({ value }) => value)]);
}
