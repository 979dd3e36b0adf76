/**
 * Links the locations of a request's event type and delivery id, for each scheme that may have verified it.
 *
 * Signed locations win (decisions §4): a location counts only if the source of the scheme names it. The compiler has sorted the
 * locations of a source, so that no unsigned header precedes a signed location. A source without its own, such as the
 * specification's generic schemes, uses the locations of the specification (§6), the body first.
 */
import { createHash } from 'node:crypto';
import type { LocatorPlan, RouteTable, SchemePlan, SignedSegment } from '../../schemas/generated/types.ts';
import { HALF } from '../platform/ids.ts';
import { contentBytes, eachItem, itemPath, linkContent, readTimestamp, withPayload } from '../verify/content.ts';
import type { SignedRequest } from '../verify/request.ts';

export interface Identity {
  /** Locations of the source's event type; numbers and booleans of a body count too. */
  readonly event: readonly LocatorPlan[];
  /** Searched if `event` finds nothing; strings only. */
  readonly eventFallback: readonly LocatorPlan[];
  readonly delivery: readonly LocatorPlan[];
  /** Computes the delivery id for a source that sends none. */
  readonly digest: Digest | null;
  /** The same for each item of a batch whose items are signed one by one: no order or selection of them makes new ids. */
  readonly itemDigests?: ((request: SignedRequest) => readonly string[]) | null;
  /** Events that test the connection. */
  readonly tests: ReadonlySet<string>;
  /** Locations of more exact names, by event type. */
  readonly details: ReadonlyMap<string, readonly LocatorPlan[]>;
  /** The replay guard of the source; null: it has none. */
  readonly guard: LinkedGuard | null;
  /** The replay guard of a route with `replay_guard: body`. */
  readonly bodyGuard: LinkedGuard;
}

type Digest = (request: SignedRequest) => string;

/** Recognises requests that were captured and sent again under another id (decisions §4). */
export interface LinkedGuard {
  readonly digest: Digest;
  /** How long it is claimed, in ms. @param idMs how long an id is claimed */
  readonly ttlMs: (idMs: number) => number;
  /** The first locations of the delivery id, which are signed: an id there needs no guard. */
  readonly signed: readonly LocatorPlan[];
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
  const bodyGuard = linkBodyGuard(({ body }) => digestOf(body), 0);
  const empty = { event: [], digest: null, guard: null, tests: new Set<string>(), details: new Map<string, never>() };
  const unknown: Identity = { ...empty, eventFallback, delivery, bodyGuard };
  return (source, insecure) => {
    if (!insecure) return ofScheme;
    const identity = source === null ? unknown : ofScheme(source);
    return () => identity;
  };
}

function identityOf(plan: SchemePlan, table: SpecifiedLocations): Identity {
  const { event, delivery, delivery_digest, test_events, event_details = {} } = plan;
  const specified = signedLocations(table);
  const isNamed = namesLocations(plan);
  const digests = linkDigest(plan);
  return {
    event,
    eventFallback: isNamed ? specified.event.filter(isInBody) : specified.event,
    delivery: isNamed ? delivery : specified.delivery,
    ...(delivery_digest ? digests : { digest: null }),
    ...linkGuards(plan, digests.digest),
    tests: new Set(test_events),
    details: new Map(Object.entries(event_details)),
  };
}

/** @param ofBody the digest of the body, or of its signed parts */
function linkGuards(plan: SchemePlan, ofBody: Digest): Pick<Identity, 'guard' | 'bodyGuard'> {
  const { replay_guard: guard, timestamp, delivery } = plan;
  // The signature is valid from `tolerance` before its time to `tolerance` after it, in whole seconds.
  const windowMs = timestamp === null ? 0 : (2 * timestamp.tolerance + 1) * 1000;
  const bodyGuard = linkBodyGuard(ofBody, windowMs);
  if (guard === undefined || timestamp === null || guard.of === 'body')
    return { guard: guard?.of === 'body' ? bodyGuard : null, bodyGuard };
  const readTime = (request: SignedRequest): string => {
    const time = readTimestamp(timestamp, request);
    return typeof time === 'string' ? '' : time.text;
  };
  const { digest } = linkDigest(plan, readTime);
  return { guard: { digest, ttlMs: () => windowMs, signed: delivery.slice(0, guard.signed_ids) }, bodyGuard };
}

const linkBodyGuard = (digest: Digest, windowMs: number): LinkedGuard => ({
  digest,
  ttlMs: (idMs) => Math.max(idMs, windowMs),
  signed: [],
});

const BODY: readonly SignedSegment[] = [{ kind: 'body', value: [] }];

/**
 * The digest covers what is signed, in the form in which it is signed: the parts of each item, the sorted parameters, or the
 * body before its content encoding. Changing anything else must not yield a new id. @param readTime the signed time; absent: the
 * digest covers only the body
 */
function linkDigest(
  plan: SchemePlan,
  readTime?: (request: SignedRequest) => string,
): Pick<Identity, 'itemDigests'> & { readonly digest: Digest } {
  const { signed, signs_decoded } = plan;
  const parts = signed.filter(({ kind }) => kind === 'json' || kind === 'params');
  const coversBody = parts.length === 0 || signed.some(({ kind }) => kind === 'body');
  const content = linkContent(coversBody && readTime === undefined ? BODY : signed, signs_decoded);
  const items = itemPath(plan);
  const digestOfItem = (request: SignedRequest): string =>
    digestOf(contentBytes(content({ request, timestamp: readTime?.(request) ?? '', id: '', base: '' })));
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

/** `sha256:` and the hexadecimal SHA-256 of the content. Text with half a surrogate pair has no UTF-8; it counts as UTF-16. */
export function digestOf(content: string | Buffer): string {
  const bytes =
    typeof content === 'string' && HALF.test(content) ? Buffer.from(`\uffff${content}`, 'utf16le') : content;
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

export const isInBody = ({ in: place }: LocatorPlan): boolean => place === 'json' || place === 'form';

/**
 * Maximum length of a key, and of a part of a location, in UTF-16 units: an agent gets it as an argument, and lists show it.
 */
const KEY_LIMIT = 256;

/** A key that looks like the digest of a longer one. */
const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** Replaces a longer key, and one that stores cannot keep, by its digest; truncation could merge two. */
export const bounded = (key: string): string =>
  key.length > KEY_LIMIT || DIGEST.test(key) || HALF.test(key) ? digestOf(key) : key;
