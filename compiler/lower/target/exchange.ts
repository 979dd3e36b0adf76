/** Lowers how a target's credentials are exchanged for a token. */
import type {
  ExchangePlan,
  InstallationPlan,
  ResponseCondition,
  TargetExchange,
  TargetInstallation,
} from '../../../schemas/generated/types.ts';
import type { NodePath } from '../../diagnostics/problem.ts';
import { lowerCondition } from './condition.ts';
import { lowerOutcomes } from './outcome.ts';
import { INSTALLATION, lowerExchangeRequest, lowerRequest } from './request.ts';
import type { TargetScope } from './scope.ts';
import { splitPath } from './scope.ts';
import { lowerText } from './value-template.ts';

export const any2xx = (): ResponseCondition => [{ kind: 'status', ranges: [{ from: 200, to: 299 }] }];

export function lowerExchange(exchange: TargetExchange, path: NodePath, scope: TargetScope): ExchangePlan {
  const { base, jwt, installation, expires, outcomes } = exchange;
  for (const key of ['issuer', 'key'] as const) {
    if (jwt === undefined || Object.hasOwn(scope.settings, jwt[key])) continue;
    const message = `there is no setting \`${jwt[key]}\``;
    scope.report({ rule: 'target-needs', path: [...path, 'jwt', key], at: 'value', message });
  }
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
