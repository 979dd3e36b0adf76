/** Finds in a refused request what belongs to another sender: the signature of another scheme, or the secret itself. */
import { labelOf } from '../../../../base/label.ts';
import { likelySources, placesOutside, rankOf } from '../../../../runtime/verify/likely-sources.ts';
import type { LocatorSource } from '../../../../runtime/verify/locator.ts';
import { printPlace, queryOf, readValue } from '../../../../runtime/verify/locator.ts';
import type { RequestParts } from '../../../../runtime/verify/request.ts';
import { LazyRequest } from '../../../../runtime/verify/request.ts';
import type { SignatureEvidence } from '../../../../runtime/verify/signature-evidence.ts';
import type { LocatorPlan, SchemePlan, SignatureCause } from '../../../../schemas/generated/types.ts';
import { tryTrial } from './trial.ts';

type Refused = SignatureEvidence & { readonly parts: RequestParts };

/** A signature of a scheme that the route does not accept, valid under the route's secret; null when there is none. */
export function rightOtherScheme(request: Refused): SignatureCause | null {
  const { parts, secrets, publicUrl: url } = request;
  const right = present(request).filter((plan) =>
    secrets.some(({ text }) => tryTrial({ plan, parts, secret: text, url }).ok),
  );
  if (right.length === 0) return null;
  const ranks = right.map((plan) => rankOf(plan, new LazyRequest(parts)));
  // Several senders may sign the same way; their other headers may tell them apart.
  const names = right.filter((_plan, at) => ranks[at] === Math.max(...ranks)).map(labelOf);
  const text = `${carried(right, request)}, the signature of ${names.join(' or ')}, and right under this secret`;
  return otherScheme(request, text, true);
}

/** Headers in which other senders put their signatures, valid or not; null when there are none. */
export function presentOtherScheme(request: Refused): SignatureCause | null {
  const found = present(request);
  if (found.length === 0) return null;
  const names = likelySources(request.known, request.schemes, new LazyRequest(request.parts));
  const users = names.length === 0 ? 'which other senders use' : `as ${names.join(' or ')} sends it`;
  return otherScheme(request, `${carried(found, request)}, ${users}`, false);
}

/** The signature places outside the body that the request has. */
const foundPlaces = (plan: SchemePlan, request: LocatorSource): readonly LocatorPlan[] =>
  placesOutside(plan).filter((at) => readValue(at, request) !== undefined);

/** The secret in plain text in a header or query parameter that the route does not read; null when it is in none. */
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

/** Schemes that the route does not accept and whose signature the request has, outside the body. */
function present({ known, schemes, parts }: Refused): readonly SchemePlan[] {
  const parsed = new LazyRequest(parts);
  return known.filter(
    (plan) =>
      !schemes.some(({ name }) => name === plan.name) && plan.verify !== 'none' && foundPlaces(plan, parsed).length > 0,
  );
}

/** The signature places of these schemes that the request has; those that the fewest senders use come first. */
function carried(plans: readonly SchemePlan[], { known, parts }: Refused): string {
  const parsed = new LazyRequest(parts);
  const users = (place: string): number =>
    known.filter((plan) => placesOutside(plan).map(printPlace).includes(place)).length;
  const found = plans.flatMap((plan) => foundPlaces(plan, parsed).map(printPlace));
  return [...new Set(found)].sort((a, b) => users(a) - users(b)).join(' and ');
}

type Values = readonly (readonly [place: string, value: string])[];

const headerValues = ({ rawHeaders }: RequestParts): Values =>
  rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), rawHeaders[at + 1] ?? ''] as const] : []));

const queryValues = ({ url }: RequestParts): Values =>
  [...new URLSearchParams(queryOf(url))].map(([name, value]) => [`?${name}`, value] as const);
