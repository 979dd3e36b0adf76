/** Ranks senders by how well a request matches them: by their event and id headers, besides the signature. */
import type { SchemePlan } from '../../schemas/generated/types.ts';
import type { LocatorSource } from './locator.ts';
import { readValue } from './locator.ts';

/** Comparable between schemes for one request; the highest is the likeliest. */
export function rankOf({ event, delivery, timestamp }: SchemePlan, request: LocatorSource): number {
  const score = (places: SchemePlan['event']): number =>
    places.some((at) => at.in === 'header' && readValue(at, request) !== undefined)
      ? 2
      : places.some((at) => readValue(at, request) !== undefined)
        ? 1
        : 0;
  return score(event) * 2 + score(delivery) + (timestamp === null ? 0 : 1);
}
