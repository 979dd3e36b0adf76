/**
 * Why a request ended as it did, as data: the one thing that the log, `explain`, kept requests and tests print. A stage
 * leaves a code in the intake; its details are computed only on demand, with the functions that decided.
 * For the operator; a sender is never told.
 */
import { labelOf } from '../../base/label.ts';
import { printableStart } from '../platform/printable.ts';
import { decidingLeaf } from '../table/deciding-leaf.ts';
import { eventEntries } from '../table/link-events.ts';
import { isOutsideBody, readFirst } from '../verify/locator.ts';
import { likelySources } from '../verify/other-scheme.ts';
import { printPlace } from '../verify/print-place.ts';
import { ageOf, readTimestamp } from '../verify/timestamp.ts';
import type { Intake } from './intake.ts';
import type { StageName } from './stage.ts';
import { subjectOf } from './stages/filters.ts';

export interface Reason {
  readonly stage: StageName;
  /** `filter`, `missing_signature`, …; null when the answer says everything. */
  readonly code: string | null;
  readonly about: ReasonDetail | null;
}

export type ReasonDetail =
  | SignatureReason
  /** Entries that the event type was compared with. */
  | { readonly kind: 'event'; readonly accepts: readonly string[] }
  | FilterReason
  /** Such as what a script did. */
  | { readonly kind: 'text'; readonly text: string };

/** The filter leaf that decided, with the kind of value it found: values are payload, and stay out of logs. */
export interface FilterReason {
  readonly kind: 'filter';
  /** `filters[1].any[0]` */
  readonly at: string;
  readonly field: string;
  readonly operator: string;
  readonly found: 'missing' | 'null' | 'boolean' | 'number' | 'string' | 'list' | 'object';
}

export interface SignatureReason {
  readonly kind: 'signature';
  /** The scheme that committed; null: none did. */
  readonly scheme: string | null;
  /** Where a signature would have been, of this scheme or of all that the route accepts. */
  readonly lookedFor: readonly string[];
  /** Sources that the route does not accept, whose signature header the request has. Nothing of it is verified. */
  readonly otherSources: readonly string[];
  /** Seconds since the signed instant, negative when it lies ahead; null when there is none to be read. */
  readonly ageSeconds: number | null;
  /** As the headers say. Nothing of it is verified. */
  readonly sent: { readonly event: string | null; readonly deliveryId: string | null };
}

/** Null before a stage has answered, and for a fault of ours. */
export function reasonOf(intake: Intake): Reason | null {
  const { stage, reason: code } = intake;
  return stage === null ? null : { stage, code, about: detailOf(intake, stage) };
}

function detailOf(intake: Intake, stage: StageName): ReasonDetail | null {
  if (intake.detail !== null) return { kind: 'text', text: intake.detail };
  if (intake.reason === null) return null;
  switch (stage) {
    case 'credential':
    case 'signature':
      return signatureReason(intake);
    case 'event':
      return {
        kind: 'event',
        accepts: intake.route.plan.events === null ? [] : eventEntries(intake.route.plan.events),
      };
    case 'filter':
      return filterReason(intake);
    default:
      return null;
  }
}

function filterReason(intake: Intake): FilterReason | null {
  const finding = intake.route.filter?.inspect(subjectOf(intake));
  const deciding = finding === undefined ? null : decidingLeaf(finding);
  if (deciding === null) return null;
  const { field, operator, found, missing } = deciding.leaf;
  return { kind: 'filter', at: deciding.at, field: field ?? '', operator, found: missing ? 'missing' : kindOf(found) };
}

function kindOf(value: unknown): FilterReason['found'] {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  const type = typeof value;
  return type === 'boolean' || type === 'number' || type === 'string' ? type : 'object';
}

function signatureReason(intake: Intake): SignatureReason {
  const { known, schemes } = intake.route.evidence();
  const otherSources = intake.scheme === '' ? likelySources(known, schemes, intake) : [];
  return { kind: 'signature', ...signaturePlaces(intake), otherSources, sent: sentIdentity(intake) };
}

/** The scheme that committed, as people know it; null: none did. */
export function schemeLabel({ scheme, route }: Intake): string | null {
  const committed = route.authenticator.schemes.find(({ name }) => name === scheme);
  return committed === undefined ? null : labelOf(committed);
}

/** Where a signature was looked for, and how old the request says it is. */
export function signaturePlaces(intake: Intake): Pick<SignatureReason, 'scheme' | 'lookedFor' | 'ageSeconds'> {
  const { schemes } = intake.route.authenticator;
  const committed = schemes.find(({ name }) => name === intake.scheme);
  const places = (committed === undefined ? schemes : [committed]).flatMap(({ signature }) => signature);
  return {
    scheme: schemeLabel(intake),
    lookedFor: [...new Set(places.map(printPlace))],
    ageSeconds: ageSeconds(intake),
  };
}

function ageSeconds(intake: Intake): number | null {
  const plan = intake.route.authenticator.schemes.find(({ name }) => name === intake.scheme)?.timestamp ?? null;
  if (plan === null || intake.body.length === 0) return null;
  const timestamp = readTimestamp(plan, intake);
  const age = typeof timestamp === 'string' ? null : ageOf(plan, timestamp.text, intake.receivedAt);
  return age === null ? null : Math.round(age / 1000);
}

/** Longest event type or id of a stranger that is repeated, in UTF-16 units. */
const SENT_LIMIT = 128;

/** By the headers and query places of every scheme the route accepts: the body is a stranger's and is not parsed for it. */
function sentIdentity(intake: Intake): SignatureReason['sent'] {
  const found = { event: null as string | null, deliveryId: null as string | null };
  for (const { name } of intake.route.authenticator.schemes) {
    const { event, eventFallback, delivery } = intake.route.identityOf(name);
    found.event ??= readFirst([...event, ...eventFallback].filter(isOutsideBody), intake, true);
    found.deliveryId ??= readFirst(delivery.filter(isOutsideBody), intake, true);
  }
  const print = (text: string | null): string | null => (text === null ? null : printableStart(text, SENT_LIMIT));
  return { event: print(found.event), deliveryId: print(found.deliveryId) };
}
