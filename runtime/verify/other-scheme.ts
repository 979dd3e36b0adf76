/** A refused request that carries what another sender would: the signature of another scheme, or the secret itself. */
import type { SchemePlan, SignatureCause } from '../../schemas/generated/types.ts';
import { isOutsideBody, queryOf, readValue } from './locator.ts';
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
  const names = right.filter((_plan, at) => ranks[at] === Math.max(...ranks)).map(({ name }) => name);
  const text = `${carried(right, request)}, the signature of ${names.join(' or ')}, and right under this secret`;
  return otherScheme(request, text, true);
}

/** Headers that other senders use for their signatures. Whether they are right cannot be said. */
export function presentOtherScheme(request: Refused): SignatureCause | null {
  const found = present(request);
  return found.length === 0 ? null : otherScheme(request, `${carried(found, request)}, which other senders use`, false);
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
  const accepted = schemes.map(({ name }) => name).join(', ');
  return { code: 'other_scheme', certain, text: `the request carries ${text}; the route accepts ${accepted}` };
}

/** Schemes that the route does not accept, with a signature outside of the body. */
function present({ known, schemes, parts }: Refused): readonly SchemePlan[] {
  const parsed = new LazyRequest(parts);
  return known.filter(
    (plan) =>
      !schemes.some(({ name }) => name === plan.name) &&
      plan.verify !== 'none' &&
      plan.signature.some((at) => isOutsideBody(at) && readValue(at, parsed) !== undefined),
  );
}

/** Places of these schemes that the request has, first those that the fewest senders use: they say the most. */
function carried(plans: readonly SchemePlan[], { known, parts }: Refused): string {
  const parsed = new LazyRequest(parts);
  const placesOf = ({ signature }: SchemePlan): readonly string[] => signature.filter(isOutsideBody).map(printPlace);
  const users = (place: string): number => known.filter((plan) => placesOf(plan).includes(place)).length;
  const found = plans.flatMap(({ signature }) =>
    signature.filter((at) => isOutsideBody(at) && readValue(at, parsed) !== undefined).map(printPlace),
  );
  return [...new Set(found)].sort((a, b) => users(a) - users(b)).join(' and ');
}

type Values = readonly (readonly [place: string, value: string])[];

const headerValues = ({ rawHeaders }: RequestParts): Values =>
  rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), rawHeaders[at + 1] ?? ''] as const] : []));

const queryValues = ({ url }: RequestParts): Values =>
  [...new URLSearchParams(queryOf(url))].map(([name, value]) => [`?${name}`, value] as const);
