/** Lowers one variant of a target to a self-contained plan. */
import type {
  FindPlan,
  LoginPlan,
  RequestPlan,
  SignaturePlan,
  TargetFind,
  TargetLogin,
  TargetRequest,
  TargetRetryAfter,
  TargetSignature,
  TargetText,
  TargetVariant,
  TextPlan,
  VariantPlan,
  WaitSource,
} from '../../../schemas/generated/types.ts';
import type { NodePath } from '../../diagnostics/problem.ts';
import { lowerEach } from '../locator.ts';
import { lowerAddress } from './address.ts';
import { lowerCondition } from './condition.ts';
import { any2xx, lowerExchange } from './exchange.ts';
import { lowerOutcomes } from './outcome.ts';
import { lowerExchangeRequest, lowerRequest } from './request.ts';
import type { TargetScope } from './scope.ts';
import { groupNames, lowerPattern, splitPath } from './scope.ts';
import { lowerText } from './value-template.ts';

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
    ...(parts.update === undefined ? {} : { update: lowerRequests('update', variant, scope) }),
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
  for (const [index, name] of needs.entries()) {
    if (Object.hasOwn(scope.settings, name)) continue;
    const message = `there is no setting \`${name}\`; the settings are ${Object.keys(scope.settings).join(', ')}`;
    scope.report({ rule: 'target-needs', path: [...pathOf(part), index], at: 'value', message });
  }
  return needs;
}

function lowerFind(find: TargetFind, path: NodePath, scope: TargetScope): FindPlan {
  const { request, list = '.', page_size } = find;
  return {
    requests: lowerEach<TargetRequest, RequestPlan>(request, [...path, 'request'], (one, at) =>
      lowerRequest(one, at, scope),
    ),
    list: splitPath(list),
    text: splitPath(find.text),
    id: splitPath(find.id),
    ...(find.author === undefined ? {} : { author: splitPath(find.author) }),
    page_size,
  };
}

const lowerLogin = (
  { request, path: at, suffix = '' }: TargetLogin,
  path: NodePath,
  scope: TargetScope,
): LoginPlan => ({
  request: lowerExchangeRequest(request, [...path, 'request'], scope),
  path: splitPath(at),
  suffix,
});

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
  return lowerEach<TargetRequest, RequestPlan>(request, path, (one, at) => lowerRequest(one, at, scope));
}

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
      scope.report({ ...problem, path: at, message: 'a place has exactly one of `header`, `body` and `text`' });
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
