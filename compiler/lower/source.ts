/** Lowers one source (a catalog file or an entry under `sources:`) to the scheme plan that the verifier interprets. */

import { PATH, printPath, splitField } from '../../base/paths.ts';
import { realTarget } from '../../base/spec-names.ts';
import type {
  AuthorPlan,
  ChallengePlan,
  EventAuthorFields,
  Locator,
  LocatorPlan,
  OwnSender,
  OwnSenderPlan,
  SchemePlan,
  SecretForm,
  SignedSegment,
  SourceChallenge,
  SourceFile,
} from '../../schemas/generated/types.ts';
import { lowerPath } from '../config/grammar.ts';
import type { Lowered, NodePath, Problem } from '../diagnostics/diagnostic.ts';
import { takeInto } from '../diagnostics/diagnostic.ts';
import { isError } from '../diagnostics/rule.ts';
import { lowerRespond } from './respond.ts';
import { checkSource, KEY_FORMS } from './source-faults.ts';

/** HTTP Basic credentials (RFC 7617). */
const BASIC: LocatorPlan = { in: 'header', name: 'authorization', path: [], split: '', prefix: 'Basic ' };

/** Returns the plan, or the problems that prevent verification of requests. */
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
    ...(file.texts === undefined ? {} : { texts: file.texts.map(splitField) }),
    ...(file.own_sender === undefined ? {} : { own_sender: file.own_sender.map(lowerOwnSender) }),
    ...(file.author === undefined ? {} : { author: lowerAuthor(file.author) }),
    ...lowerBatch(file, report),
    ...respondOf(file, problems),
    delivery_digest: file.delivery_digest ?? false,
    ...(file.test_events === undefined ? {} : { test_events: file.test_events }),
    ...(file.event_details === undefined ? {} : { event_details: lowerDetails(file.event_details, report) }),
    ...(file.allow_empty === true ? { allow_empty: true } : {}),
    ...(file.signs_decoded === true ? { signs_decoded: true } : {}),
    challenges: lowerChallenges(file.challenge, report),
    never_with: (file.never_with ?? []).map((name) => name.toLowerCase().replace(/[^a-z0-9]/g, '')),
    deprecated: file.deprecated ?? null,
  };
  Object.assign(plan, lowerGuard(file.replay_guard, plan));
  problems.push(...checkSource(file, signed));
  return { plan: problems.some(isError) ? null : plan, problems };
}

const lowerDetails = (details: NonNullable<SourceFile['event_details']>, report: ReportFault) =>
  Object.fromEntries(
    Object.entries(details).map(([event, at]) => [event, lowerLocators(at, ['event_details', event], report)]),
  );

/** `[]` at the end of a part iterates over its list; alone it is the list at the root, or in an item. */
const LISTS = new RegExp(`(${PATH})?\\[\\]`, 'g');
const EACH = new RegExp(`^(?:${PATH})?\\[\\](?:(?:\\.${PATH})?\\[\\])*$`);

function lowerBatch(
  { each, max_batch, delivery }: SourceFile,
  report: ReportFault,
): Pick<SchemePlan, 'each' | 'max_batch'> {
  if (each === undefined) {
    if (max_batch !== undefined) report(['max_batch'], '`max_batch` has no effect without `each`');
    return {};
  }
  if (!EACH.test(each))
    report(['each'], `\`${each}\` is not the path of a list: write \`[]\`, \`events[]\` or \`entry[].changes[]\``);
  for (const [index, { json = '' }] of [delivery ?? []].flat().entries())
    if (/^(?:batch|parent)(?:\.|$)/.test(json))
      report(
        Array.isArray(delivery) ? ['delivery', index, 'json'] : ['delivery', 'json'],
        `\`${json}\` is the same for several items, so all but one would be duplicates`,
      );
  return { each: listsOf(each), ...(max_batch === undefined ? {} : { max_batch }) };
}

/** The path of each list of `each`. */
export const listsOf = (each: string): string[][] =>
  [...each.matchAll(LISTS)].map(([, path]) => (path === undefined ? [] : splitField(path)));

function respondOf({ respond }: SourceFile, problems: Problem[]): Pick<SchemePlan, 'respond'> {
  return respond === undefined ? {} : { respond: takeInto(problems)(lowerRespond(respond, null), ['respond']) };
}

function lowerOwnSender(own: OwnSender): OwnSenderPlan {
  const path = splitField(own.field);
  if ('same_as' in own) return { path, same_as: splitField(own.same_as), target: '', setting: '' };
  return { path, same_as: null, target: realTarget(own.target), setting: own.setting };
}

const lowerAuthor = ({ field, person }: EventAuthorFields): AuthorPlan => ({
  paths: [field].flat().map(splitField),
  person: person === undefined ? null : { path: splitField(person.field), is: person.is },
});

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

/**
 * The replay guard: of the body if the source asks for it, otherwise of the signed bytes of a scheme that signs a time, but
 * possibly no id.
 */
function lowerGuard(guard: SourceFile['replay_guard'], plan: SchemePlan): Pick<SchemePlan, 'replay_guard'> {
  if (guard !== undefined) return { replay_guard: { of: guard, signed_ids: 0 } };
  const { timestamp, id, delivery, delivery_digest } = plan;
  const signed_ids = countSignedIds(plan);
  const isSure = id !== null || (delivery_digest && signed_ids === delivery.length);
  return timestamp === null || isSure ? {} : { replay_guard: { of: 'signed', signed_ids } };
}

/** The number of signed locations of the delivery id; they come first. */
export const countSignedIds = ({ delivery, signed }: Pick<SchemePlan, 'delivery' | 'signed'>): number =>
  delivery.filter((at) => isSigned(at, signed)).length;

/** Lowers the handshakes of a source (`challenge:`) to the plans that the intake answers them with. */
const lowerChallenges = (
  value: SourceChallenge | SourceChallenge[] | undefined,
  report: ReportFault,
): ChallengePlan[] => lowerEach(value, ['challenge'], (challenge, path) => lowerChallenge(challenge, path, report));

function lowerChallenge(challenge: SourceChallenge, path: NodePath, report: ReportFault): ChallengePlan {
  const { kind, when } = challenge;
  const place = (key: string, locator: Locator | undefined) =>
    locator === undefined ? null : lowerLocator(locator, [...path, key], report);
  if ((kind === 'echo' || kind === 'capture') && challenge.value === undefined) {
    report(path, `a challenge of kind \`${kind}\` needs \`value\`: the location of the value to ${kind}`);
  }
  if (kind === 'reply' && challenge.json === undefined && challenge.status !== 204) {
    report(path, 'a challenge of kind `reply` needs `json`: the response');
  }
  const method = challenge.method ?? 'POST';
  if (method === 'POST' && kind !== 'capture' && when === undefined) {
    report(path, 'a POST challenge needs `when`: without it, every event would be treated as a handshake');
  }
  const at = when === undefined ? null : place('when', placeOf(when));
  const equals = when?.equals === undefined ? null : String(when.equals);
  return {
    kind,
    method,
    when: at === null ? null : { at, equals },
    token: place('token', challenge.token),
    value: place('value', challenge.value),
    body: challenge.json === undefined ? null : JSON.stringify(challenge.json),
    headers: challenge.headers ?? {},
    status: challenge.status ?? 200,
    echo: challenge.echo?.header.toLowerCase() ?? null,
  };
}

/** The locator of a condition, without the expected value. */
function placeOf(when: NonNullable<SourceChallenge['when']>): Locator {
  const { equals: _equals, ...place } = when;
  return place;
}

/** Lowers the locators of a source (`{header: …}`, `{json: …}`) to plans. */
type ReportFault = (path: NodePath, message: string, hint?: string) => void;

/** Lowers one locator. If it names no location or several, reports that and returns null. */
function lowerLocator(locator: Locator, path: NodePath, report: ReportFault): LocatorPlan | null {
  const { header, query, json, form } = locator;
  const named = [header, query, form ?? json].filter((name) => name !== undefined);
  if (named.length !== 1) {
    report(
      path,
      'a location has exactly one of `header`, `query`, `json`, `form` (`form` may be combined with `json`)',
    );
    return null;
  }
  if (json !== undefined && typeof lowerPath(json) === 'string')
    report([...path, 'json'], `empty part in the path \`${json}\``);
  return {
    in: header !== undefined ? 'header' : query !== undefined ? 'query' : form !== undefined ? 'form' : 'json',
    name: header?.toLowerCase() ?? query ?? form ?? '',
    path: json === undefined ? [] : splitField(json),
    split: locator.split ?? '',
    prefix: locator.prefix ?? '',
  };
}

/** Lowers one value or a list of them. The path of an item has its index. */
export function lowerEach<T extends object, P>(
  value: T | T[] | undefined,
  path: NodePath,
  lower: (item: T, path: NodePath) => P,
): P[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value.map((item, index) => lower(item, [...path, index])) : [lower(value, path)];
}

/** Lowers one locator or a list of them. */
export const lowerLocators = (
  value: Locator | Locator[] | undefined,
  path: NodePath,
  report: ReportFault,
): LocatorPlan[] =>
  lowerEach(value, path, (locator, at) => lowerLocator(locator, at, report)).filter((plan) => plan !== null);

type Kind = SignedSegment['kind'];

const PLAIN: ReadonlySet<string> = new Set(['body', 'timestamp', 'id', 'url', 'method', 'params'] satisfies Kind[]);
const URL_FORMS: ReadonlySet<string> = new Set(['either-port', 'decoded']);
const PLACEHOLDER = /\{([^{}]*)\}/g;

/** Returns the segments in order. Reports unknown placeholders, with a list of the known ones. */
function parseSigned(template: string, report: ReportFault): SignedSegment[] {
  const segments: SignedSegment[] = [];
  let end = 0;
  const text = (until: number): void => {
    if (until > end) segments.push({ kind: 'text', value: [template.slice(end, until)] });
  };
  for (const match of template.matchAll(PLACEHOLDER)) {
    text(match.index);
    const segment = parsePlaceholder(match[1] ?? '');
    if (segment === null) {
      report(
        ['signed'],
        `unknown placeholder \`${match[0]}\`: known are {body}, {timestamp}, {id}, {url}, {url:either-port}, {url:decoded}, {method}, {json:path}, {params}`,
      );
    } else segments.push(segment);
    end = match.index + match[0].length;
  }
  text(template.length);
  return segments;
}

function parsePlaceholder(name: string): SignedSegment | null {
  if (PLAIN.has(name)) return { kind: name as Kind, value: [] };
  const [kind = '', ...rest] = name.split(':');
  const argument = rest.join(':');
  if (kind === 'json' && argument !== '') return { kind, value: splitField(argument) };
  return kind === 'url' && URL_FORMS.has(argument) ? { kind, value: [argument] } : null;
}

/**
 * Sorts alternative locations of a value: signed ones, then the body, then headers and the query. The first non-empty
 * location is used, so that an unsigned value cannot override a signed one (decisions §4).
 */
function signedFirst(places: readonly LocatorPlan[], signed: readonly SignedSegment[]): LocatorPlan[] {
  const rank = (at: LocatorPlan): number => (isSigned(at, signed) ? 0 : isInBody(at) ? 1 : 2);
  return [...places].sort((a, b) => rank(a) - rank(b));
}

function isSigned(at: LocatorPlan, signed: readonly SignedSegment[]): boolean {
  return signed.some(({ kind, value }) => {
    if (kind === 'body') return isInBody(at);
    if (kind === 'params') return at.in === 'form' && at.path.length === 0;
    if (kind === 'url') return at.in === 'query';
    return kind === 'json' && at.in === 'json' && printPath(at.path) === printPath(value);
  });
}

const isInBody = ({ in: place }: LocatorPlan): boolean => place === 'json' || place === 'form';
