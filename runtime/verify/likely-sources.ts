/** Guesses the sender of a request from the location of its signature and from its other headers. */
import type { LocatorPlan, RoutePlan, SchemePlan } from '../../schemas/generated/types.ts';
import type { LocatorSource, RequestParts } from './request.ts';
import { isOutsideBody, printLocation, readValue, splitParts } from './request.ts';
import type { SecretText } from './scheme.ts';
import type { Refused } from './verification.ts';

/** More candidates than this do not help. */
const MOST_SOURCES = 3;

/**
 * Names of the likely senders of the request, by its headers and query alone: those whose signature is at the location that the
 * fewest senders use, and among them those that match the most other headers. Empty if none is distinctive, or the sender is
 * among `accepted`.
 */
export function likelySources(
  known: readonly SchemePlan[],
  accepted: readonly SchemePlan[],
  request: LocatorSource,
): readonly string[] {
  const users = new Map<string, number>();
  for (const plan of known)
    for (const place of new Set(locationsOutsideBody(plan).map(printLocation)))
      users.set(place, (users.get(place) ?? 0) + 1);
  const candidates = known.flatMap((plan) => {
    if (plan.verify === 'none' || accepted.some(({ name }) => name === plan.name)) return [];
    const found = locationsOutsideBody(plan).filter((at) => carries(at, request));
    if (found.length === 0) return [];
    const rarity = Math.min(...found.map((at) => users.get(printLocation(at)) ?? 0));
    const outside = { ...plan, event: plan.event.filter(isOutsideBody), delivery: plan.delivery.filter(isOutsideBody) };
    return [{ name: plan.name, rarity, rank: rankOf(outside, request) }];
  });
  const rarest = Math.min(...candidates.map(({ rarity }) => rarity));
  const closest = candidates.filter(({ rarity }) => rarity === rarest);
  const highest = Math.max(...closest.map(({ rank }) => rank));
  const names = [...new Set(closest.flatMap(({ name, rank }) => (rank === highest ? [name] : [])))];
  return names.length > MOST_SOURCES ? [] : names;
}

export const locationsOutsideBody = ({ signature }: SchemePlan): readonly LocatorPlan[] =>
  signature.filter(isOutsideBody);

/** True if the location contains a value with its prefix: `Authorization: Basic` is not a bearer token. */
function carries(at: LocatorPlan, request: LocatorSource): boolean {
  const value = readValue(at, request);
  const parts = typeof value === 'string' ? splitParts(at, value) : [];
  return parts.length > 0;
}

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

/** Facts about the senders of a route. */
export interface SignatureEvidence {
  /** The schemes that the route accepts. */
  readonly schemes: readonly SchemePlan[];
  /** Their names in the route, if they differ. */
  readonly labels?: RoutePlan['labels'] | undefined;
  /** All schemes of the table. */
  readonly known: readonly SchemePlan[];
  /** The route's secrets, including expired ones. */
  readonly secrets: readonly SecretText[];
  readonly publicUrl: string | null;
}

export interface RefusedRequest extends SignatureEvidence {
  readonly refused: Refused;
  readonly parts: RequestParts;
  /** Unix ms. */
  readonly now: number;
}
