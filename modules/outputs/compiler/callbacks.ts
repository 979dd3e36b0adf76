/** The routes that chats call when a person presses a button of an approval request, and why a target has none. */

import { DEFAULT_PROFILE } from '../../../base/names.ts';
import type { TableContent } from '../../../compiler/config/settings.ts';
import { lowerRoute } from '../../../compiler/lower/route.ts';
import { viewRoute } from '../../../compiler/views/view-route.ts';
import type { RouteScope } from '../../../compiler/views/views.ts';
import type {
  ButtonsPlan,
  RoutePlan,
  RouteTable,
  SecretRef,
  TargetBinding,
  TargetPlan,
} from '../../../schemas/generated/types.ts';

/** A receiver of approval requests that supports buttons. */
export interface ButtonTarget {
  readonly target: string;
  /** Its name in the configuration. */
  readonly label: string;
  readonly plan: TargetPlan;
  readonly on: { readonly buttons: ButtonsPlan; readonly ref: SecretRef } | null;
  /** Why its messages have no buttons; null: they have. */
  readonly missing: Missing | null;
}

/** `setting`: the one that is not set. `source`: unknown. */
type Missing =
  | { readonly kind: 'variant' | 'public_url' }
  | { readonly kind: 'setting' | 'source'; readonly name: string };

type Tables = Pick<TableContent, 'gateway' | 'targets' | 'profiles' | 'sources' | 'server'>;

export function buttonTargets({ gateway, targets, profiles, sources, server }: Tables): readonly ButtonTarget[] {
  return (gateway.approvals?.deliver ?? []).flatMap(({ target, label = target }): readonly ButtonTarget[] => {
    const [plan, binding] = [targets[target], profiles[DEFAULT_PROFILE]?.targets[target]];
    if (plan === undefined || binding === undefined || plan.variants.every(({ buttons }) => !buttons)) return [];
    const buttons = plan.variants.find(({ name }) => name === binding.variant)?.buttons;
    const off = (missing: Missing): readonly ButtonTarget[] => [{ target, label, plan, on: null, missing }];
    if (buttons === undefined) return off({ kind: 'variant' });
    const ref = secretOf(buttons.secret, binding);
    if (ref === null) return off({ kind: 'setting', name: buttons.secret });
    if (!Object.hasOwn(sources, buttons.source)) return off({ kind: 'source', name: buttons.source });
    if (buttons.derived === true && server.public_url === null) return off({ kind: 'public_url' });
    return [{ target, label, plan, on: { buttons, ref }, missing: null }];
  });
}

/** A public key may be an option in the table. */
function secretOf(name: string, { credentials, options }: TargetBinding): SecretRef | null {
  const value = options[name];
  return (
    credentials[name] ??
    (value === undefined ? null : { kind: 'literal', value: String(value), scope: DEFAULT_PROFILE })
  );
}

export function callbackRoutes(scope: RouteScope): Pick<RouteTable, 'callbacks'> {
  const plans = buttonTargets(scope.table).flatMap(({ target, on }) => {
    const plan = on === null ? null : callbackRoute(target, on, scope);
    return plan === null ? [] : [[target, plan] as const];
  });
  return plans.length === 0 ? {} : { callbacks: Object.fromEntries(plans) };
}

/** It never inherits the server's secret, which may be INSECURE_NO_AUTH. */
function callbackRoute(
  target: string,
  { buttons, ref }: NonNullable<ButtonTarget['on']>,
  scope: RouteScope,
): RoutePlan | null {
  const name = `/approvals/${target}`;
  const config = { source: buttons.source, agent: 'none', capture: 'none' as const, prompt: '' };
  const view = {
    ...viewRoute({ name, config }, scope),
    insecure: false,
    secrets: [{ ref, expires_at: null, path: null }],
  };
  const { plan } = lowerRoute(view, { at: { file: '', line: 1 } });
  if (plan === null) return null;
  const secrets = plan.secrets.map((secret) => ({
    ...secret,
    ...(buttons.derived === true ? { derived: true as const } : {}),
  }));
  return { ...plan, callback: target, public_url: null, secrets };
}
