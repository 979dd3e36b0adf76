/**
 * Lowers one variant of a target to a self-contained plan: how responses are classified, and how credentials are
 * exchanged for a token.
 */
import type {
  BodyCheck,
  ButtonsPlan,
  CheckPlan,
  ExchangePlan,
  ExpectPlan,
  FindPlan,
  FreshPlan,
  InstallationPlan,
  LoginPlan,
  OutcomeRulePlan,
  RequestPlan,
  ResponseCondition,
  SignaturePlan,
  StatusCheck,
  TargetButtons,
  TargetCondition,
  TargetExchange,
  TargetExpectation,
  TargetFind,
  TargetFresh,
  TargetInstallation,
  TargetLogin,
  TargetOutcomeRule,
  TargetRequest,
  TargetRetryAfter,
  TargetSignature,
  TargetText,
  TargetVariant,
  TextPlan,
  VariantPlan,
  WaitSource,
} from '../../schemas/generated/types.ts';
import type { NodePath } from '../diagnostics/diagnostic.ts';
import { lowerEach } from './source.ts';
import { INSTALLATION, lowerExchangeRequest, lowerRequest } from './target-request.ts';
import type { TargetScope } from './target-text.ts';
import { groupNames, lowerAddress, lowerPattern, lowerText, splitPath } from './target-text.ts';

/** A variant merged with the parts that the target shares, and the path of each part in the file. */
export interface MergedVariant {
  readonly name: string;
  readonly parts: TargetVariant;
  readonly pathOf: (part: keyof TargetVariant) => NodePath;
}

const UNIT_MS = { s: 1000, ms: 1, unix: 1000 } as const;

export function lowerVariant(variant: MergedVariant, outer: TargetScope): VariantPlan {
  const { parts, pathOf } = variant;
  const { exchange, signature, address = {} } = parts;
  const has = {
    exchange: exchange !== undefined,
    signature: signature !== undefined,
    jwt: exchange?.jwt !== undefined,
  };
  const groups = Object.values(address).flatMap(({ pattern = '' }) => groupNames(pattern));
  const scope: TargetScope = { ...outer, address, groups, has, headers: parts.headers ?? {} };
  const base = parts.base;
  return {
    name: variant.name,
    needs: lowerNames('needs', variant, scope),
    address: lowerAddress(scope.address, pathOf('address'), scope),
    base: base === undefined ? null : lowerText(base, { at: 'base', path: pathOf('base') }, scope),
    ...(parts.unless === undefined ? {} : { unless: lowerNames('unless', variant, scope) }),
    requests: lowerRequests('request', variant, scope),
    ...(parts.find === undefined ? {} : { find: lowerFind(parts.find, pathOf('find'), scope) }),
    ...(parts.fresh === undefined ? {} : { fresh: lowerFresh(parts.fresh, pathOf('fresh'), scope) }),
    ...(parts.update === undefined ? {} : { update: lowerRequests('update', variant, scope) }),
    ...(parts.buttons === undefined ? {} : { buttons: lowerButtons(parts.buttons, pathOf('buttons'), scope) }),
    ...(parts.login === undefined ? {} : { login: lowerLogin(parts.login, pathOf('login'), scope) }),
    text: lowerTextRules(parts.text ?? {}),
    key: {
      form: parts.key?.form ?? 'hex',
      max_length: parts.key?.max_length ?? 64,
      window_ms: (parts.key?.window_seconds ?? 0) * 1000,
    },
    signature: parts.signature === undefined ? null : lowerSignature(parts.signature, pathOf('signature'), scope),
    exchange: parts.exchange === undefined ? null : lowerExchange(parts.exchange, pathOf('exchange'), scope),
    ...(parts.check === undefined ? {} : { check: lowerExchangeRequest(parts.check, pathOf('check'), scope) }),
    success: parts.success === undefined ? any2xx() : lowerCondition(parts.success, pathOf('success'), scope),
    message_id: parts.message_id === undefined ? null : splitPath(parts.message_id),
    error_code: parts.error_code === undefined ? null : splitPath(parts.error_code),
    outcomes: lowerOutcomes(parts.outcomes ?? [], pathOf('outcomes'), scope),
    retry_after: lowerRetryAfter(parts.retry_after, pathOf('retry_after'), scope),
    retry_after_cap_ms: (parts.retry_after?.cap_seconds ?? 3600) * 1000,
    pacing: (parts.pacing ?? []).map(({ per, messages, seconds }) => ({
      per,
      messages,
      period_ms: Math.ceil(seconds * 1000),
    })),
    timeout_ms: Math.ceil((parts.timeout_seconds ?? 20) * 1000),
    max_response_bytes: parts.max_response_bytes ?? 65536,
  };
}

function lowerNames(part: 'needs' | 'unless', { parts, pathOf }: MergedVariant, scope: TargetScope): string[] {
  const needs = parts[part] ?? [];
  checkSettings(needs, (index) => [...pathOf(part), index], scope);
  return needs;
}

function checkSettings(names: readonly string[], pathOf: (index: number) => NodePath, scope: TargetScope): void {
  for (const [index, name] of names.entries()) {
    if (Object.hasOwn(scope.settings, name)) continue;
    const message = `there is no setting \`${name}\`; the settings are ${Object.keys(scope.settings).join(', ')}`;
    scope.report({ rule: 'target-needs', path: pathOf(index), at: 'value', message });
  }
}

function lowerFind(find: TargetFind, path: NodePath, scope: TargetScope): FindPlan {
  const { request, list = '.', page_size, remove } = find;
  return {
    requests: lowerEachRequest(request, [...path, 'request'], scope),
    list: splitPath(list),
    text: splitPath(find.text),
    id: splitPath(find.id),
    ...(find.author === undefined ? {} : { author: splitPath(find.author) }),
    page_size,
    ...(remove === undefined ? {} : { remove: lowerEachRequest(remove, [...path, 'remove'], scope) }),
  };
}

const lowerFresh = (states: TargetFresh, path: NodePath, scope: TargetScope): FreshPlan[] =>
  states.map(({ matches, request, value }, index) => ({
    matches: lowerPattern(matches, [...path, index, 'matches'], scope) ?? '',
    requests: lowerEachRequest(request, [...path, index, 'request'], scope),
    values: [value].flat().map(splitPath),
  }));

const lowerLogin = (
  { request, path: at, suffix = '' }: TargetLogin,
  path: NodePath,
  scope: TargetScope,
): LoginPlan => ({
  request: lowerExchangeRequest(request, [...path, 'request'], scope),
  path: splitPath(at),
  suffix,
});

/** Values of a callback that its requests and answers contain. */
const CALLBACK_VALUES = Object.fromEntries(
  ['chat', 'message', 'person', 'callback', 'url', 'secret'].map((name) => [name, { help: name }]),
);

function lowerButtons(buttons: TargetButtons, path: NodePath, outer: TargetScope): ButtonsPlan {
  const scope = { ...outer, address: { ...outer.address, ...CALLBACK_VALUES } };
  const { fields, requests, answers = {}, ...others } = buttons;
  checkSettings([buttons.secret], () => [...path, 'secret'], scope);
  if (buttons.chats !== undefined) lowerPattern(buttons.chats, [...path, 'chats'], scope);
  const bodies = Object.entries(answers).map(([name, json]) => [name, { path: '', json }] as const);
  const lower = (key: string, plans: readonly (readonly [string, TargetRequest])[]): ButtonsPlan['requests'] =>
    Object.fromEntries(plans.map(([name, plan]) => [name, lowerRequest(plan, [...path, key, name], scope)]));
  return {
    ...others,
    fields: Object.fromEntries(Object.entries(fields).map(([name, paths]) => [name, [paths].flat().map(splitPath)])),
    requests: lower('requests', Object.entries(requests)),
    answers: lower('answers', bodies),
  };
}

function lowerRequests(
  part: 'request' | 'update',
  { parts, pathOf }: MergedVariant,
  scope: TargetScope,
): VariantPlan['requests'] {
  const path = pathOf(part);
  const request = parts[part];
  if (request === undefined) {
    const message = 'no `request` is defined';
    scope.report({ rule: 'target-request', path: path.slice(0, -1), at: 'key', message });
    return [];
  }
  return lowerEachRequest(request, path, scope);
}

const lowerEachRequest = (
  request: NonNullable<TargetVariant['request']>,
  path: NodePath,
  scope: TargetScope,
): RequestPlan[] => lowerEach<TargetRequest, RequestPlan>(request, path, (one, at) => lowerRequest(one, at, scope));

function lowerTextRules(text: TargetText): TextPlan {
  return {
    limit: text.limit ?? null,
    unit: text.unit ?? 'utf16',
    overflow: text.overflow ?? 'split',
    max_pieces: text.max_pieces ?? 200,
    numbered: text.numbered ?? false,
    transforms: text.transforms ?? [],
  };
}

function lowerSignature(signature: TargetSignature, path: NodePath, scope: TargetScope): SignaturePlan {
  return {
    hash: signature.hash ?? 'sha256',
    key: lowerText(signature.key, { at: 'signature', path: [...path, 'key'] }, scope),
    message: lowerText(signature.message, { at: 'signature', path: [...path, 'message'] }, scope),
    encoding: signature.encoding ?? 'base64',
    unit_ms: UNIT_MS[signature.clock ?? 's'],
  };
}

const RETRY_AFTER_HEADER: TargetRetryAfter = { from: [{ header: 'retry-after' }] };

function lowerRetryAfter(given: TargetRetryAfter | undefined, path: NodePath, scope: TargetScope): WaitSource[] {
  return (given ?? RETRY_AFTER_HEADER).from.map((source, index) => {
    const at = [...path, 'from', index];
    const [place, second] = (['header', 'body', 'text'] as const).filter((kind) => source[kind] !== undefined);
    const problem = { rule: 'target-retry-after', at: 'value' } as const;
    const pattern = source.text === undefined ? '' : lowerPattern(source.text, [...at, 'text'], scope);
    if (place === undefined || second !== undefined)
      scope.report({ ...problem, path: at, message: 'a location has exactly one of `header`, `body` and `text`' });
    if (source.text !== undefined && !/\((?!\?:)/.test(source.text))
      scope.report({ ...problem, path: [...at, 'text'], message: 'the expression needs a group around the number' });
    return {
      in: place ?? 'header',
      header: (source.header ?? '').toLowerCase(),
      path: source.body === undefined ? [] : splitPath(source.body),
      pattern: pattern ?? '',
      unit_ms: UNIT_MS[source.unit ?? 's'],
      ...(source.unit === 'unix' ? { is_instant: true } : {}),
      ...(source.when === undefined ? {} : { when: lowerCondition(source.when, [...at, 'when'], scope) }),
    };
  });
}

type Scalar = string | number | boolean | null;
type Expectation = Scalar | readonly Scalar[] | TargetExpectation;

/** Lowers the response conditions of a target file (success, outcome rules). */
function lowerCondition(condition: TargetCondition, path: NodePath, scope: TargetScope): ResponseCondition {
  const checks: CheckPlan[] = [];
  if (condition.status !== undefined) checks.push({ kind: 'status', ranges: statusRanges(condition.status) });
  for (const [name, expected] of Object.entries(condition.headers ?? {})) {
    const expect = lowerExpectation(expected, [...path, 'headers', name], scope);
    checks.push({ kind: 'header', name: name.toLowerCase(), expect });
  }
  checks.push(...lowerBodyChecks(condition.body ?? {}, [...path, 'body'], scope));
  if (condition.text !== undefined) {
    const pattern = lowerPattern(condition.text, [...path, 'text'], scope);
    if (pattern !== null) checks.push({ kind: 'text', pattern });
  }
  if (condition.any !== undefined) {
    const of = condition.any.map((one, index) => lowerCondition(one, [...path, 'any', index], scope));
    checks.push({ kind: 'any', of });
  }
  return checks;
}

function lowerBodyChecks(body: Readonly<Record<string, Expectation>>, path: NodePath, scope: TargetScope): BodyCheck[] {
  return Object.entries(body).map(([at, expected]) => ({
    kind: 'body',
    path: splitPath(at),
    expect: lowerExpectation(expected, [...path, at], scope),
  }));
}

function statusRanges(status: NonNullable<TargetCondition['status']>): StatusCheck['ranges'] {
  return (Array.isArray(status) ? status : [status]).map((one) => {
    if (typeof one === 'number') return { from: one, to: one };
    const hundred = Number(one.slice(0, 1)) * 100;
    return { from: hundred, to: hundred + 99 };
  });
}

function lowerExpectation(expected: Expectation, path: NodePath, scope: TargetScope): ExpectPlan[] {
  if (Array.isArray(expected)) return [{ op: 'in', values: [...expected] }];
  if (expected === null || typeof expected !== 'object') return [{ op: 'in', values: [expected as Scalar] }];
  const tests = expected as TargetExpectation;
  const expect: ExpectPlan[] = [];
  if (tests.exists !== undefined) expect.push({ op: 'exists', value: tests.exists });
  if (tests.empty !== undefined) expect.push({ op: 'empty', value: tests.empty });
  if (tests.is !== undefined) expect.push({ op: 'is', type: tests.is });
  if (tests.not !== undefined) expect.push({ op: 'not_in', values: [...tests.not] });
  if (tests.between !== undefined) expect.push({ op: 'between', from: tests.between[0], to: tests.between[1] });
  if (tests.matches !== undefined) {
    const pattern = lowerPattern(tests.matches, [...path, 'matches'], scope);
    if (pattern !== null) expect.push({ op: 'matches', pattern });
  }
  if (tests.every !== undefined) {
    expect.push({ op: 'every', checks: lowerBodyChecks(tests.every, [...path, 'every'], scope) });
  }
  return expect;
}

/** Lowers the outcome rules of a target. */
const lowerOutcomes = (rules: readonly TargetOutcomeRule[], path: NodePath, scope: TargetScope): OutcomeRulePlan[] =>
  rules.map((rule, index) => lowerOutcome(rule, [...path, index], scope));

function lowerOutcome(rule: TargetOutcomeRule, path: NodePath, scope: TargetScope): OutcomeRulePlan {
  if (rule.outcome === 'refresh' && !scope.has.exchange) {
    const message = '`refresh` needs an `exchange`; write `auth`';
    scope.report({ rule: 'target-outcome', path: [...path, 'outcome'], at: 'value', message });
  }
  return {
    when: lowerCondition(rule.when, [...path, 'when'], scope),
    outcome: rule.outcome,
    reason: rule.reason ?? null,
    wait_ms: rule.wait_seconds === undefined ? null : Math.ceil(rule.wait_seconds * 1000),
  };
}

/** Lowers how a target's credentials are exchanged for a token. */
const any2xx = (): ResponseCondition => [{ kind: 'status', ranges: [{ from: 200, to: 299 }] }];

function lowerExchange(exchange: TargetExchange, path: NodePath, scope: TargetScope): ExchangePlan {
  const { base, jwt, installation, expires, outcomes } = exchange;
  for (const key of ['issuer', 'key'] as const)
    if (jwt !== undefined) checkSettings([jwt[key]], () => [...path, 'jwt', key], scope);
  return {
    base: base === undefined ? null : lowerText(base, { at: 'base', path: [...path, 'base'] }, scope),
    request: lowerExchangeRequest(exchange.request, [...path, 'request'], scope),
    success: exchange.success === undefined ? any2xx() : lowerCondition(exchange.success, [...path, 'success'], scope),
    token: splitPath(exchange.token),
    lifetime: exchange.lifetime === undefined ? null : splitPath(exchange.lifetime),
    default_lifetime_ms: (exchange.default_lifetime_seconds ?? 3600) * 1000,
    margin_ms: (exchange.margin_seconds ?? 120) * 1000,
    ...(expires === undefined ? {} : { expires: splitPath(expires) }),
    ...(jwt === undefined ? {} : { jwt }),
    ...(outcomes === undefined ? {} : { outcomes: lowerOutcomes(outcomes, [...path, 'outcomes'], scope) }),
    ...(installation === undefined
      ? {}
      : { installation: lowerInstallation(installation, [...path, 'installation'], scope) }),
  };
}

function lowerInstallation({ request, id }: TargetInstallation, path: NodePath, scope: TargetScope): InstallationPlan {
  return {
    request: lowerRequest(request, [...path, 'request'], scope, INSTALLATION),
    id: splitPath(id),
  };
}
