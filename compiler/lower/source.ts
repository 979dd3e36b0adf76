/** Lowers one source (a catalog file or an entry under `sources:`) to the scheme plan the verifier interprets. */
import type { LocatorPlan, SchemePlan, SecretForm, SignedSegment, SourceFile } from '../../schemas/generated/types.ts';
import type { Lowered, NodePath, Problem } from '../diagnostics/problem.ts';
import { sourceScheme } from '../rules/source-scheme.ts';
import { lowerChallenges } from './challenge.ts';
import type { Report } from './locator.ts';
import { lowerLocator, lowerLocators } from './locator.ts';
import { parseSigned, signedFirst } from './signed.ts';

type Verify = SourceFile['verify'];

/** Key forms each primitive takes; the first is the default. */
const KEY_FORMS: Readonly<Record<Verify, readonly SecretForm['as'][]>> = {
  'hmac-sha1': ['utf8', 'hex', 'base64'],
  'hmac-sha256': ['utf8', 'hex', 'base64'],
  'hmac-sha512': ['utf8', 'hex', 'base64'],
  ed25519: ['raw-hex', 'raw-base64', 'spki-base64'],
  'ecdsa-p256': ['spki-base64'],
  token: ['utf8', 'hex', 'base64'],
  basic: ['utf8'],
  none: ['utf8'],
};

/** Where HTTP Basic credentials are (RFC 7617). */
const BASIC: LocatorPlan = { in: 'header', name: 'authorization', path: [], split: '', prefix: 'Basic ' };

/** The plan, or the problems that keep `file` from being a scheme anyone could verify. */
export function lowerSource(name: string, file: SourceFile): Lowered<SchemePlan> {
  const problems: Problem[] = [];
  const report: Report = (path, message, hint) => {
    problems.push({ rule: sourceScheme, path, at: 'value', message, ...(hint === undefined ? {} : { hint }) });
  };
  const signed = file.signed === undefined ? [] : parseSigned(file.signed, report);
  const id = file.id === undefined ? null : lowerLocator(file.id, ['id'], report);
  const plan: SchemePlan = {
    name,
    verify: file.verify,
    signature: lowerSignature(file, report),
    encoding: file.encoding ?? 'hex',
    signed,
    secret: lowerSecret(file, report),
    timestamp: lowerTimestamp(file, report),
    id,
    body_hash: lowerBodyHash(file, report),
    event: signedFirst(lowerLocators(file.event, ['event'], report), signed),
    delivery: lowerDelivery(file, id, signed, report),
    delivery_digest: file.delivery_digest ?? false,
    challenges: lowerChallenges(file.challenge, report),
    never_with: (file.never_with ?? []).map((name) => name.toLowerCase().replace(/[^a-z0-9]/g, '')),
    deprecated: file.deprecated ?? null,
  };
  checkSigned(file, signed, report);
  return { plan: problems.length === 0 ? plan : null, problems };
}

function lowerSignature(file: SourceFile, report: Report): LocatorPlan[] {
  if (file.verify === 'none') return [];
  if (file.signature === undefined) {
    if (file.verify === 'basic') return [BASIC];
    report([], '`signature` is missing: where the sender puts its signature or token');
  }
  return lowerLocators(file.signature, ['signature'], report);
}

function lowerSecret(file: SourceFile, report: Report): SecretForm {
  const allowed = KEY_FORMS[file.verify];
  const as = file.secret?.as ?? allowed[0] ?? 'utf8';
  if (!allowed.includes(as)) {
    report(['secret', 'as'], `\`${as}\` is no key of \`${file.verify}\`: it takes ${allowed.join(', ')}`);
  }
  return { strip: file.secret?.strip ?? '', as, otherwise: file.secret?.otherwise ?? 'same' };
}

function lowerTimestamp(file: SourceFile, report: Report): SchemePlan['timestamp'] {
  if (file.timestamp === undefined) return null;
  const { unit, tolerance, tolerance_by: _by, ...place } = file.timestamp;
  const at = lowerLocator(place, ['timestamp'], report);
  return at === null ? null : { at, unit, tolerance, after: at.in === 'json' || at.in === 'form' };
}

function lowerBodyHash(file: SourceFile, report: Report): SchemePlan['body_hash'] {
  if (file.body_hash === undefined) return null;
  const { hash, encoding, ...place } = file.body_hash;
  const at = lowerLocator(place, ['body_hash'], report);
  return at === null ? null : { at, hash, encoding };
}

/** A signed id is there on every request that verifies, and nothing unsigned may stand in for it. */
function lowerDelivery(
  file: SourceFile,
  id: LocatorPlan | null,
  signed: readonly SignedSegment[],
  report: Report,
): LocatorPlan[] {
  const places = signedFirst(lowerLocators(file.delivery, ['delivery'], report), signed);
  return id === null ? places : [id];
}

/** What the template names must be there, and what is there must be signed: an unsigned timestamp protects nothing. */
function checkSigned(file: SourceFile, signed: readonly SignedSegment[], report: Report): void {
  const keyed = file.verify !== 'token' && file.verify !== 'basic' && file.verify !== 'none';
  if (!keyed) {
    if (file.signed !== undefined) report(['signed'], `\`${file.verify}\` signs nothing: remove \`signed\``);
    return;
  }
  const has = (kind: SignedSegment['kind']): boolean => signed.some((segment) => segment.kind === kind);
  const missing = (path: NodePath, name: string): void =>
    report(path, `\`signed\` holds {${name}}, but the source has no \`${name}\``);
  if (file.signed === undefined) report([], '`signed` is missing: the template of the signed bytes');
  else if (signed.every(({ kind }) => kind === 'text')) report(['signed'], 'nothing of the request is signed');
  if (has('timestamp') && file.timestamp === undefined) missing(['signed'], 'timestamp');
  if (has('id') && file.id === undefined) missing(['signed'], 'id');
  if (file.id !== undefined && !has('id'))
    report(['id'], '`id` is not part of `signed`', 'Use `delivery` for an id that is not signed.');
  const inBody = file.timestamp?.json !== undefined && has('body');
  if (file.timestamp !== undefined && !has('timestamp') && !inBody) {
    report(['timestamp'], 'the timestamp is not part of `signed`: anyone could refresh it');
  }
  if (file.body_hash?.query !== undefined && !has('url'))
    report(['body_hash'], 'the digest is not in a signed place: `signed` has no {url}');
}
