/** Adds a new secret before those that an entry accepts. */
import type { RotatingSecret, RouteConfig, SecretRef } from '../../schemas/generated/types.ts';

export interface Rotation {
  readonly fresh: string;
  /** Unix ms. */
  readonly now: number;
  /** Unix ms at which the old secret expires; if it is not after `now`, it expires immediately. */
  readonly end: number;
  /** The global secret, for an entry that has none of its own. */
  readonly inherited: SecretRef | null;
}

export function rotateSecret(entry: RouteConfig, { fresh, now, end, inherited }: Rotation): RouteConfig {
  const { secret, secrets, ...rest } = entry;
  const old: readonly RotatingSecret[] = secrets ?? (secret === undefined ? written(inherited) : [secret]);
  const kept = old.map((item) => endingAt(item, end)).filter(({ expires_at }) => Date.parse(expires_at) > now);
  return kept.length === 0 ? { ...rest, secret: fresh } : { ...rest, secrets: [fresh, ...kept] };
}

/** An earlier expiry that was already set is kept. */
function endingAt(item: RotatingSecret, end: number): { readonly value: string; readonly expires_at: string } {
  const { value, expires_at } = typeof item === 'string' ? { value: item } : { ...item };
  const earlier = expires_at === undefined ? end : Math.min(end, Date.parse(expires_at));
  return { value, expires_at: new Date(earlier).toISOString() };
}

function written(ref: SecretRef | null): string[] {
  if (ref === null) return [];
  return [ref.kind === 'literal' ? ref.value : `${ref.kind}:${ref.value}`];
}
