/** A refused request that carries what another sender would: the signature of another scheme, or the secret itself. */
import { labelOf } from '../../base/label.ts';
import type { LocatorPlan, SchemePlan, SignatureCause } from '../../schemas/generated/types.ts';
import type { LocatorSource } from './locator.ts';
import { isOutsideBody, queryOf, readValue, splitParts } from './locator.ts';
import { printPlace } from './print-place.ts';
import { rankOf } from './rank-of.ts';
import type { RequestParts } from './request.ts';
import { LazyRequest } from './request.ts';
import type { SignatureEvidence } from './signature-evidence.ts';
import { tryTrial } from './trial.ts';

type Refused = SignatureEvidence & { readonly parts: RequestParts };

/** The signature of a scheme that the route does not accept, right under the route's secret. */
export function rightOtherScheme(request: Refused): SignatureCause | null {
  const { parts, secrets, publicUrl: url } = request;
  const right = present(request).filter((plan) =>
    secrets.some(({ text }) => tryTrial({ plan, parts, secret: text, url }).ok),
  );
  if (right.length === 0) return null;
  const ranks = right.map((plan) => rankOf(plan, new LazyRequest(parts)));
  // Several senders may sign in the same way: what else the request carries tells them apart, or nothing does.
  const names = right.filter((_plan, at) => ranks[at] === Math.max(...ranks)).map(labelOf);
  const text = `${carried(right, request)}, the signature of ${names.join(' or ')}, and right under this secret`;
  return otherScheme(request, text, true);
}

/** Headers that other senders use for their signatures. Whether they are right cannot be said. */
export function presentOtherScheme(request: Refused): SignatureCause | null {
  const found = present(request);
  if (found.length === 0) return null;
  const names = likelySources(request.known, request.schemes, new LazyRequest(request.parts));
  const users = names.length === 0 ? 'which other senders use' : `as ${names.join(' or ')} sends it`;
  return otherScheme(request, `${carried(found, request)}, ${users}`, false);
}

/** Naming more sources than this does not help. */
const MOST_SOURCES = 3;

/**
 * Names of the senders that a request looks to be of, by its headers and query alone: those of the signature place that the
 * fewest use, of them those with most of their other headers. Empty when none stands out, or `accepted` has it.
 */
export function likelySources(
  known: readonly SchemePlan[],
  accepted: readonly SchemePlan[],
  request: LocatorSource,
): readonly string[] {
  const users = new Map<string, number>();
  for (const plan of known)
    for (const place of new Set(placesOf(plan).map(printPlace))) users.set(place, (users.get(place) ?? 0) + 1);
  const candidates = known.flatMap((plan) => {
    if (plan.verify === 'none' || accepted.some(({ name }) => name === plan.name)) return [];
    const found = placesOf(plan).filter((at) => carries(at, request));
    if (found.length === 0) return [];
    const rarity = Math.min(...found.map((at) => users.get(printPlace(at)) ?? 0));
    const outside = { ...plan, event: plan.event.filter(isOutsideBody), delivery: plan.delivery.filter(isOutsideBody) };
    return [{ label: labelOf(plan), rarity, rank: rankOf(outside, request) }];
  });
  const rarest = Math.min(...candidates.map(({ rarity }) => rarity));
  const closest = candidates.filter(({ rarity }) => rarity === rarest);
  const highest = Math.max(...closest.map(({ rank }) => rank));
  const names = [...new Set(closest.flatMap(({ label, rank }) => (rank === highest ? [label] : [])))];
  return names.length > MOST_SOURCES ? [] : names;
}

const placesOf = ({ signature }: SchemePlan): readonly LocatorPlan[] => signature.filter(isOutsideBody);

/** With the place's prefix: `Authorization: Basic` is no bearer token. */
function carries(at: LocatorPlan, request: LocatorSource): boolean {
  const value = readValue(at, request);
  const parts = typeof value === 'string' ? splitParts(at, value) : [];
  return parts.length > 0;
}

/** The secret as it is, in a header or query parameter that none of the route's senders uses for it. */
export function misplacedSecret({ parts, secrets, schemes }: Refused): SignatureCause | null {
  const place = [...headerValues(parts), ...queryValues(parts)].find(([, value]) =>
    secrets.some(({ text }) => value === text || value.endsWith(` ${text}`) || value.endsWith(`=${text}`)),
  );
  if (place === undefined) return null;
  const wanted = [...new Set(schemes.flatMap(({ signature }) => signature.map(printPlace)))].join(', ');
  const text = `the secret itself stands in ${place[0]}, where the route looks for nothing; it looks for ${wanted}`;
  return { code: 'misplaced_secret', certain: true, text };
}

function otherScheme({ schemes }: Refused, text: string, certain: boolean): SignatureCause {
  const accepted = schemes.map(labelOf).join(', ');
  return { code: 'other_scheme', certain, text: `the request carries ${text}; the route accepts ${accepted}` };
}

/** Schemes that the route does not accept, with a signature outside of the body. */
function present({ known, schemes, parts }: Refused): readonly SchemePlan[] {
  const parsed = new LazyRequest(parts);
  return known.filter(
    (plan) =>
      !schemes.some(({ name }) => name === plan.name) &&
      plan.verify !== 'none' &&
      placesOf(plan).some((at) => readValue(at, parsed) !== undefined),
  );
}

/** Places of these schemes that the request has, first those that the fewest senders use: they say the most. */
function carried(plans: readonly SchemePlan[], { known, parts }: Refused): string {
  const parsed = new LazyRequest(parts);
  const users = (place: string): number =>
    known.filter((plan) => placesOf(plan).map(printPlace).includes(place)).length;
  const found = plans.flatMap((plan) =>
    placesOf(plan)
      .filter((at) => readValue(at, parsed) !== undefined)
      .map(printPlace),
  );
  return [...new Set(found)].sort((a, b) => users(a) - users(b)).join(' and ');
}

type Values = readonly (readonly [place: string, value: string])[];

const headerValues = ({ rawHeaders }: RequestParts): Values =>
  rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), rawHeaders[at + 1] ?? ''] as const] : []));

const queryValues = ({ url }: RequestParts): Values =>
  [...new URLSearchParams(queryOf(url))].map(([name, value]) => [`?${name}`, value] as const);
