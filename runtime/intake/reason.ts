/**
 * The reason of a request's outcome, as data, for the log, `explain`, captured requests and tests. A stage stores a code in the
 * intake. The details are computed on demand, with the functions that decided. For the operator, never for the sender.
 */
import { schemeLabel } from '../../base/text.ts';
import type { KeptFilterReason, KeptReason, KeptSignatureReason } from '../../schemas/generated/types.ts';
import { printableStart } from '../platform/log.ts';
import { eventEntries } from '../table/link-events.ts';
import type { FilterFinding } from '../table/link-filter.ts';
import { ageOf, readTimestamp } from '../verify/content.ts';
import { likelySources } from '../verify/likely-sources.ts';
import { isOutsideBody, printLocation, readFirst } from '../verify/request.ts';
import type { Intake, StageName } from './intake.ts';
import { subjectOf } from './stages/decide.ts';

interface Reason {
  readonly stage: StageName;
  /** `filter`, `missing_signature`, …; null if the outcome says everything. */
  readonly code: string | null;
  /** Values in it are not payload, so that it can be logged. */
  readonly about: KeptReason | null;
}

/** Null before a stage has replied, and after an internal error. */
export function reasonOf(intake: Intake): Reason | null {
  const { stage, reason: code } = intake;
  return stage === null ? null : { stage, code, about: detailOf(intake, stage) };
}

function detailOf(intake: Intake, stage: StageName): KeptReason | null {
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

function filterReason(intake: Intake): KeptFilterReason | null {
  const finding = intake.route.filter?.inspect(subjectOf(intake));
  const deciding = finding === undefined ? null : decidingLeaf(finding);
  if (deciding === null) return null;
  const { field, operator, found, missing } = deciding.leaf;
  return { kind: 'filter', at: deciding.at, field: field ?? '', operator, found: missing ? 'missing' : kindOf(found) };
}

function kindOf(value: unknown): KeptFilterReason['found'] {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  const type = typeof value;
  return type === 'boolean' || type === 'number' || type === 'string' ? type : 'object';
}

function signatureReason(intake: Intake): KeptSignatureReason {
  const { known, schemes } = intake.route.evidence();
  const other_sources = intake.scheme === '' ? [...likelySources(known, schemes, intake)] : [];
  return { kind: 'signature', ...signatureLocations(intake), other_sources, sent: sentIdentity(intake) };
}

/** Display name of the scheme that decided; null without a signature. */
export function decidingScheme({ scheme, route }: Intake): string | null {
  const isCommitted = route.authenticator.schemes.some(({ name }) => name === scheme);
  return isCommitted ? schemeLabel(route.plan, scheme) : null;
}

/** Returns the places searched for a signature, and the age of the signed timestamp. */
export function signatureLocations(intake: Intake): Pick<KeptSignatureReason, 'scheme' | 'looked_for' | 'age_seconds'> {
  const { schemes } = intake.route.authenticator;
  const committed = schemes.find(({ name }) => name === intake.scheme);
  const places = (committed === undefined ? schemes : [committed]).flatMap(({ signature }) => signature);
  return {
    scheme: decidingScheme(intake),
    looked_for: [...new Set(places.map(printLocation))],
    age_seconds: ageSeconds(intake),
  };
}

function ageSeconds(intake: Intake): number | null {
  const plan = intake.route.authenticator.schemes.find(({ name }) => name === intake.scheme)?.timestamp ?? null;
  if (plan === null || intake.body.length === 0) return null;
  const timestamp = readTimestamp(plan, intake);
  const age = typeof timestamp === 'string' ? null : ageOf(plan, timestamp.text, intake.receivedAt);
  return age === null ? null : Math.round(age / 1000);
}

/** Maximum length of an unverified event type or id that is shown, in UTF-16 units. */
const SENT_LIMIT = 128;

/** Reads headers and query of all schemes that the route accepts; the body is untrusted and is not parsed for this. */
function sentIdentity(intake: Intake): KeptSignatureReason['sent'] {
  const found = { event: null as string | null, delivery_id: null as string | null };
  for (const { name } of intake.route.authenticator.schemes) {
    const { event, eventFallback, delivery } = intake.route.identityOf(name);
    found.event ??= readFirst([...event, ...eventFallback].filter(isOutsideBody), intake, true);
    found.delivery_id ??= readFirst(delivery.filter(isOutsideBody), intake, true);
  }
  const print = (text: string | null): string | null => (text === null ? null : printableStart(text, SENT_LIMIT));
  return { event: print(found.event), delivery_id: print(found.delivery_id) };
}

/** Finds the leaf that decided the result of a filter, for log lines and short reports. */
interface DecidingLeaf {
  /** Path in the configuration, such as `filters[1].any[0]`; only `filters` if it is a single leaf. */
  readonly at: string;
  readonly leaf: FilterFinding;
}

/**
 * Returns the first leaf that explains the result: in a failing `all`, the first member that fails; in a failing `any`, its
 * first member. Null for a group without members.
 */
function decidingLeaf(finding: FilterFinding, at = 'filters', top = true): DecidingLeaf | null {
  if (finding.of.length === 0) return finding.field === null ? null : { at, leaf: finding };
  if (finding.field !== null) return decidingLeaf(finding.of[0] ?? finding, `${at}.where`);
  if (finding.operator === 'not') return first(finding.of, `${at}.not`, finding);
  // The list under `filters` is an implicit `all`.
  return first(finding.of, top && finding.operator === 'all' ? at : `${at}.${finding.operator}`, finding);
}

function first(members: readonly FilterFinding[], at: string, { operator, holds }: FilterFinding): DecidingLeaf | null {
  if (operator === 'not') return members[0] === undefined ? null : decidingLeaf(members[0], at, true);
  const index = Math.max(
    0,
    members.findIndex((member) => member.holds === holds),
  );
  const member = members[index];
  return member === undefined ? null : decidingLeaf(member, `${at}[${index}]`, false);
}
