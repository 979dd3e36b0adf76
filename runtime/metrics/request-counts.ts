/** Counts requests by route and outcome with one map access each, because a labelled counter costs far more per request. */
import type { Outcome } from '../intake/reply.ts';

export interface RequestCount {
  readonly profile: string;
  readonly route: string;
  readonly outcome: Outcome;
  /** Why an event was ignored; null for other outcomes. */
  readonly reason: string | null;
  count: number;
}

export class RequestCounts {
  private readonly byKey = new Map<string, RequestCount>();

  add(profile: string, route: string, outcome: Outcome, reason: string | null): void {
    const key = reason === null ? `${profile}/${route}/${outcome}` : `${profile}/${route}/${outcome}/${reason}`;
    const known = this.byKey.get(key);
    if (known === undefined) this.byKey.set(key, { profile, route, outcome, reason, count: 1 });
    else known.count++;
  }

  all(): Iterable<RequestCount> {
    return this.byKey.values();
  }
}
