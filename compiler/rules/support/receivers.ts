/** The further deliveries that rules check like `deliver`: those of the gateway's own messages. */

import { DEFAULT_PROFILE } from '../../../base/profiles.ts';
import type { ProfilePlan } from '../../../schemas/generated/types.ts';
import type { DeliveryConfig } from '../../config/deliveries.ts';
import type { NodePath } from '../../diagnostics/problem.ts';
import type { ConfigView, JobView, Reporter, RouteScope, RouteView } from '../../views/views.ts';

export interface Receiver {
  readonly config: DeliveryConfig;
  readonly scope: RouteScope;
  /** Null if it is not in the table. */
  readonly profile: ProfilePlan | null;
  /** Reports with paths relative to `config`. */
  readonly report: Reporter;
}

/** `on_failure` of a route or a job. */
export function onFailure(view: RouteView | JobView, report: Reporter): readonly Receiver[] {
  const { config, scope } = view;
  const profile = 'profilePlan' in view ? view.profilePlan : view.profile;
  if (config.on_failure === undefined) return [];
  return [{ config: config.on_failure, scope, profile, report: below(['on_failure'], report) }];
}

/** `gateway.alerts` and `gateway.approvals`, which are sent as the profile `default`. */
export function toOperators({ config, scope }: ConfigView, report: Reporter): readonly Receiver[] {
  const profile = scope.table.profiles[DEFAULT_PROFILE] ?? null;
  return (['alerts', 'approvals'] as const).flatMap((key) => {
    const found = config.gateway?.[key];
    return found === undefined ? [] : { config: found, scope, profile, report: below(['gateway', key], report) };
  });
}

const below =
  (base: NodePath, report: Reporter): Reporter =>
  (problem) =>
    report({
      ...problem,
      path: [...base, ...problem.path],
      ...(problem.fixAt === undefined ? {} : { fixAt: [...base, ...problem.fixAt] }),
    });
