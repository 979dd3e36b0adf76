/**
 * Links the locations of a request's event type and delivery id, for each scheme that may have verified it.
 *
 * Signed locations win (decisions §4): a location counts only if the source of the scheme names it. The compiler has sorted the
 * locations of a source, so that no unsigned header precedes a signed location. A source without its own, such as the
 * specification's generic schemes, uses the locations of the specification (§6), the body first.
 */
import { createHash } from 'node:crypto';
import type { LocatorPlan, RouteTable, SchemePlan } from '../../schemas/generated/types.ts';
import { contentBytes, eachItem, itemPath, linkContent, withPayload } from '../verify/content.ts';
import type { SignedRequest } from '../verify/request.ts';

export interface Identity {
  /** Locations of the source's event type; numbers and booleans of a body count too. */
  readonly event: readonly LocatorPlan[];
  /** Searched if `event` finds nothing; strings only. */
  readonly eventFallback: readonly LocatorPlan[];
  readonly delivery: readonly LocatorPlan[];
  /** Computes the delivery id for a source that sends none. */
  readonly digest: ((request: SignedRequest) => string) | null;
  /** The same for each item of a batch whose items are signed one by one: no order or selection of them makes new ids. */
  readonly itemDigests?: ((request: SignedRequest) => readonly string[]) | null;
}

/** @param scheme name of the scheme that verified the request */
export type FindIdentity = (scheme: string) => Identity;

/** The specification's locations, used for a source without its own. */
type SpecifiedLocations = Pick<RouteTable, 'default_event' | 'default_delivery'>;

/** True if a source names the location of its event type or delivery id. */
export function namesLocations({ event, delivery, delivery_digest }: SchemePlan): boolean {
  return event.length > 0 || delivery.length > 0 || delivery_digest;
}

/** The locations of §6 for signed requests: the body is signed, the headers are not. */
export function signedLocations({ default_event, default_delivery }: SpecifiedLocations): {
  readonly event: LocatorPlan[];
  readonly delivery: LocatorPlan[];
} {
  return {
    event: [...default_event.filter(isInBody), ...default_event.filter((at) => !isInBody(at))],
    delivery: default_delivery,
  };
}

/** @param insecure the route verifies nothing */
export type LinkIdentity = (source: string | null, insecure: boolean) => FindIdentity;

/** Returns a linker that links each scheme of a table once, shared by all routes. */
export function identityLinker(table: SpecifiedLocations & Pick<RouteTable, 'schemes'>): LinkIdentity {
  const linked = new Map<string, Identity>();
  const ofScheme = (name: string): Identity => {
    const known = linked.get(name);
    if (known !== undefined) return known;
    const plan = Object.hasOwn(table.schemes, name) ? table.schemes[name] : undefined;
    if (plan === undefined) throw new Error(`the table has no scheme "${name}"`);
    const identity = identityOf(plan, table);
    linked.set(name, identity);
    return identity;
  };
  /** For an unsigned request of an unknown sender: the order of §6. */
  const { default_event: eventFallback, default_delivery: delivery } = table;
  const unknown: Identity = { event: [], eventFallback, delivery, digest: null };
  return (source, insecure) => {
    if (!insecure) return ofScheme;
    const identity = source === null ? unknown : ofScheme(source);
    return () => identity;
  };
}

function identityOf(plan: SchemePlan, table: SpecifiedLocations): Identity {
  const specified = signedLocations(table);
  if (!namesLocations(plan)) {
    return { event: [], eventFallback: specified.event, delivery: specified.delivery, digest: null };
  }
  const { event, delivery, delivery_digest } = plan;
  return {
    event,
    eventFallback: specified.event.filter(isInBody),
    delivery,
    ...(delivery_digest ? linkDigest(plan) : { digest: null }),
  };
}

/**
 * If a scheme signs parts of the body, the digest covers only these parts of each item: changing the others must not yield a
 * new id.
 */
function linkDigest(plan: SchemePlan): Pick<Identity, 'digest' | 'itemDigests'> {
  const { signed } = plan;
  const parts = signed.filter(({ kind }) => kind === 'json');
  if (parts.length === 0 || signed.some(({ kind }) => kind === 'body')) return { digest: ({ body }) => digestOf(body) };
  const content = linkContent(signed);
  const items = itemPath(plan);
  const digestOfItem = (request: SignedRequest): string =>
    digestOf(contentBytes(content({ request, timestamp: '', id: '', base: '' })));
  if (items === null) return { digest: digestOfItem };
  const itemDigests = (request: SignedRequest): readonly string[] =>
    Array.from(eachItem(request.payload(), items), ([item]) => digestOfItem(withPayload(request, item)));
  const digest = (request: SignedRequest): string => {
    const [only = digestOf(''), ...others] = itemDigests(request);
    return others.length === 0 ? only : digestOf([only, ...others].join());
  };
  const isBatch = plan.each?.flatMap((list) => [...list, '0']).join('.') === items.join('.');
  return { digest, itemDigests: isBatch ? itemDigests : null };
}

/** `sha256:` and the hexadecimal SHA-256 of the content. */
export function digestOf(content: string | Buffer): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}

export const isInBody = ({ in: place }: LocatorPlan): boolean => place === 'json' || place === 'form';

/**
 * Maximum length of a key, and of a part of a location, in UTF-16 units: an agent gets it as an argument, and lists show it.
 */
const KEY_LIMIT = 256;

/** Replaces a longer key by its digest; truncation could merge two. */
export const bounded = (key: string): string => (key.length > KEY_LIMIT ? digestOf(key) : key);
