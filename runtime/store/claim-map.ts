/** Expiry by delivery id, in memory: apart per profile and route, so that no key has to be put together to look one up. */
import { claimKey, compareClaimKeys } from './claim-key.ts';
import type { ClaimKey, StoredClaim } from './mutations.ts';

export class ClaimMap {
  /** Unix ms, by profile, route and id. */
  private readonly profiles = new Map<string, Map<string, Map<string, number>>>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  /** @param now unix ms */
  holds({ profile, route, delivery_id }: ClaimKey, now: number): boolean {
    const expires = this.profiles.get(profile)?.get(route)?.get(delivery_id);
    return expires !== undefined && expires > now;
  }

  set({ profile, route, delivery_id, expires_at }: StoredClaim): void {
    let routes = this.profiles.get(profile);
    if (routes === undefined) {
      routes = new Map();
      this.profiles.set(profile, routes);
    }
    let ids = routes.get(route);
    if (ids === undefined) {
      ids = new Map();
      routes.set(route, ids);
    }
    const before = ids.size;
    ids.set(delivery_id, expires_at);
    this.count += ids.size - before;
  }

  /** Looks at `limit` claims after the key `after` and forgets those that expired by `now`. `next`: where to go on. */
  expire(now: number, after: string, limit: number): { readonly removed: number; readonly next: string | null } {
    const slice = this.sorted()
      .filter(({ key }) => compareClaimKeys(key, after) > 0)
      .slice(0, limit);
    const expired = slice.filter(({ expires_at }) => expires_at <= now);
    for (const { ids, delivery_id } of expired) ids.delete(delivery_id);
    this.count -= expired.length;
    return { removed: expired.length, next: slice.length === limit ? (slice.at(-1)?.key ?? null) : null };
  }

  private sorted() {
    const all = [];
    for (const [profile, routes] of this.profiles) {
      for (const [route, ids] of routes) {
        for (const [delivery_id, expires_at] of ids) {
          all.push({ key: claimKey({ profile, route, delivery_id }), ids, delivery_id, expires_at });
        }
      }
    }
    return all.sort((a, b) => compareClaimKeys(a.key, b.key));
  }
}
