/** How much of a request speaks for a sender: its own event and id headers beside the signature. */
import type { SchemePlan } from '../../schemas/generated/types.ts';
import type { LocatorSource } from './locator.ts';
import { readValue } from './locator.ts';

/** Comparable among the schemes that one request may be of; the highest is the likeliest. */
export function rankOf({ event, delivery, timestamp }: SchemePlan, request: LocatorSource): number {
  const speaks = (places: SchemePlan['event']): number =>
    places.some((at) => at.in === 'header' && readValue(at, request) !== undefined)
      ? 2
      : places.some((at) => readValue(at, request) !== undefined)
        ? 1
        : 0;
  return speaks(event) * 2 + speaks(delivery) + (timestamp === null ? 0 : 1);
}
