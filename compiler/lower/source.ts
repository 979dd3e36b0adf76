/** Lowers one source (a catalog file or an entry under `sources:`) to the scheme plan that the verifier interprets. */
import type {
  LocatorPlan,
  OwnSender,
  OwnSenderPlan,
  SchemePlan,
  SecretForm,
  SignedSegment,
  SourceFile,
} from '../../schemas/generated/types.ts';
import type { Lowered, Problem } from '../diagnostics/problem.ts';
import { lowerChallenges } from './challenge.ts';
import type { ReportFault } from './locator.ts';
import { lowerLocator, lowerLocators } from './locator.ts';
import { parseSigned, signedFirst } from './signed.ts';
import { checkSource, KEY_FORMS } from './source-faults.ts';

/** HTTP Basic credentials (RFC 7617). */
const BASIC: LocatorPlan = { in: 'header', name: 'authorization', path: [], split: '', prefix: 'Basic ' };

/** Returns the plan, or the problems because of which requests could not be verified. */
export function lowerSource(name: string, file: SourceFile): Lowered<SchemePlan> {
  const problems: Problem[] = [];
  const report: ReportFault = (path, message, hint) => {
    problems.push({ rule: 'source-scheme', path, at: 'value', message, hint });
  };
  const signed = file.signed === undefined ? [] : parseSigned(file.signed, report);
  const id = file.id === undefined ? null : lowerLocator(file.id, ['id'], report);
  const plan: SchemePlan = {
    name,
    verify: file.verify,
    signature: lowerSignature(file, report),
    encoding: file.encoding ?? 'hex',
    signed,
    secret: lowerSecret(file),
    timestamp: lowerTimestamp(file, report),
    id,
    body_hash: lowerBodyHash(file, report),
    ...(file.body === undefined ? {} : { body: file.body }),
    ...(file.headers === undefined ? {} : { headers: lowerHeaders(file.headers) }),
    event: signedFirst(lowerLocators(file.event, ['event'], report), signed),
    delivery: lowerDelivery(file, id, signed, report),
    ...(file.credentials === undefined
      ? {}
      : { credentials: lowerLocators(file.credentials, ['credentials'], report) }),
    ...(file.texts === undefined ? {} : { texts: file.texts.map(pathOf) }),
    ...(file.own_sender === undefined ? {} : { own_sender: file.own_sender.map(lowerOwnSender) }),
    delivery_digest: file.delivery_digest ?? false,
    challenges: lowerChallenges(file.challenge, report),
    never_with: (file.never_with ?? []).map((name) => name.toLowerCase().replace(/[^a-z0-9]/g, '')),
    deprecated: file.deprecated ?? null,
  };
  problems.push(...checkSource(file, signed));
  return { plan: problems.length === 0 ? plan : null, problems };
}

const pathOf = (field: string): string[] => field.split('.');

function lowerOwnSender(own: OwnSender): OwnSenderPlan {
  const path = pathOf(own.field);
  if ('same_as' in own) return { path, same_as: pathOf(own.same_as), target: '', setting: '' };
  return { path, same_as: null, target: own.target, setting: own.setting };
}

const lowerHeaders = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

function lowerSignature(file: SourceFile, report: ReportFault): LocatorPlan[] {
  if (file.verify === 'none') return [];
  if (file.signature === undefined && file.verify === 'basic') return [BASIC];
  return lowerLocators(file.signature, ['signature'], report);
}

function lowerSecret(file: SourceFile): SecretForm {
  const as = file.secret?.as ?? KEY_FORMS[file.verify][0] ?? 'utf8';
  return { strip: file.secret?.strip ?? '', as, otherwise: file.secret?.otherwise ?? 'same' };
}

function lowerTimestamp(file: SourceFile, report: ReportFault): SchemePlan['timestamp'] {
  if (file.timestamp === undefined) return null;
  const { unit, tolerance, tolerance_by: _by, ...place } = file.timestamp;
  const at = lowerLocator(place, ['timestamp'], report);
  return at === null ? null : { at, unit, tolerance, after: at.in === 'json' || at.in === 'form' };
}

function lowerBodyHash(file: SourceFile, report: ReportFault): SchemePlan['body_hash'] {
  if (file.body_hash === undefined) return null;
  const { hash, encoding, ...place } = file.body_hash;
  const at = lowerLocator(place, ['body_hash'], report);
  return at === null ? null : { at, hash, encoding };
}

/** If the id is signed, only that place is used: every verified request has it, and an unsigned id must not replace it. */
function lowerDelivery(
  file: SourceFile,
  id: LocatorPlan | null,
  signed: readonly SignedSegment[],
  report: ReportFault,
): LocatorPlan[] {
  const places = signedFirst(lowerLocators(file.delivery, ['delivery'], report), signed);
  return id === null ? places : [id];
}
