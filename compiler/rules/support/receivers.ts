/** What rules about `deliver` look at: the deliveries of routes and jobs, and those of the gateway's own messages. */

import { DEFAULT_PROFILE } from '../../../base/profiles.ts';
import type { ProfilePlan } from '../../../schemas/generated/types.ts';
import type { DeliveryConfig } from '../../config/deliveries.ts';
import { JOB_DELIVERIES } from '../../config/deliveries.ts';
import type { NodePath } from '../../diagnostics/problem.ts';
import type { RuleId } from '../../diagnostics/rule.ts';
import type { Checks, ConfigView, JobView, Reporter, RouteScope, RouteView, ViewRule } from '../../views/views.ts';
import { rule } from './rule.ts';

export interface Receiver {
  readonly config: DeliveryConfig;
  readonly scope: RouteScope;
  /** Null if it is not in the table. */
  readonly profile: ProfilePlan | null;
  /** Null if what is delivered has no payload. */
  readonly route: RouteView | null;
  /** Whether an event fills placeholders: not for a job, or for what the gateway itself tells. */
  readonly hasPayload: boolean;
  /** Names that are allowed although they are not targets (`origin`). */
  readonly words: readonly string[];
  /** Reports with paths relative to `config`. */
  readonly report: Reporter;
}

/** A rule about every delivery. That of a `cron_job` route is its job's. */
export const deliveryRule = (
  id: RuleId,
  check: (to: Receiver) => void,
  further: Pick<Checks, 'profile'> = {},
): ViewRule =>
  rule(id, {
    route(view, report) {
      onFailure(view, view.profilePlan, true, report).forEach(check);
      const { config, scope, profilePlan: profile } = view;
      if (view.mode !== 'cron') check({ config, scope, profile, route: view, hasPayload: true, words: [], report });
    },
    job(view, report) {
      onFailure(view, view.profile, false, report).forEach(check);
      const { config, scope, profile } = view;
      check({ config, scope, profile, route: null, hasPayload: false, words: JOB_DELIVERIES, report });
    },
    config(view, report) {
      toOperators(view, report).forEach(check);
    },
    ...further,
  });

const onFailure = (
  { config: { on_failure: config }, scope }: RouteView | JobView,
  profile: ProfilePlan | null,
  hasPayload: boolean,
  report: Reporter,
): readonly Receiver[] =>
  config === undefined
    ? []
    : [{ config, scope, profile, route: null, hasPayload, words: [], report: below(['on_failure'], report) }];

/** `gateway.alerts` and `gateway.approvals`, which are sent as the profile `default`. */
function toOperators({ config: { gateway = {} }, scope }: ConfigView, report: Reporter): readonly Receiver[] {
  const profile = scope.table.profiles[DEFAULT_PROFILE] ?? null;
  return (['alerts', 'approvals'] as const).flatMap((key) => {
    const config = gateway[key];
    if (config === undefined) return [];
    const to = { config, scope, profile, route: null, hasPayload: false, words: [] };
    return { ...to, report: below(['gateway', key], report) };
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
