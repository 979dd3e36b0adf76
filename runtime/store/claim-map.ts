/** Expiry by delivery id, in memory: apart per profile and route, so that no key has to be put together to look one up. */
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

  /** Forgets at most `limit` that expired by `now`; answers how many. */
  expire(now: number, limit: number): number {
    let expired = 0;
    for (const routes of this.profiles.values()) {
      for (const ids of routes.values()) {
        for (const [id, expires] of ids) {
          if (expired === limit) break;
          if (expires > now) continue;
          ids.delete(id);
          expired++;
        }
      }
    }
    this.count -= expired;
    return expired;
  }
}
