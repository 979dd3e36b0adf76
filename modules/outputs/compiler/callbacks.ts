/** The routes that chats call when a person presses a button of an approval request, and why a target has none. */

import { DEFAULT_PROFILE } from '../../../base/names.ts';
import type { TableContent } from '../../../compiler/config/settings.ts';
import { lowerRoute } from '../../../compiler/lower/route.ts';
import { oneOf } from '../../../compiler/text/suggest.ts';
import { viewRoute } from '../../../compiler/views/view-route.ts';
import type { RouteScope } from '../../../compiler/views/views.ts';
import type { ButtonsPlan, RoutePlan, RouteTable, SecretRef } from '../../../schemas/generated/types.ts';

/** A receiver of approval requests that supports buttons. */
interface ButtonTarget {
  readonly target: string;
  /** Its name in the configuration. */
  readonly label: string;
  /** The buttons with the secret of their callbacks, or why there are none. */
  readonly buttons: { readonly plan: ButtonsPlan; readonly ref: SecretRef } | string;
}

/** Targets without buttons are included if they are meant to have some, because there is a list of who may answer. */
export function buttonTargets({ gateway, targets, profiles, sources, server }: TableContent): readonly ButtonTarget[] {
  const { deliver = [], allow } = gateway.approvals ?? {};
  return deliver.flatMap(({ target, label = target }): readonly ButtonTarget[] => {
    const [plan, binding] = [targets[target], profiles[DEFAULT_PROFILE]?.targets[target]];
    const { name, needs = [], buttons } = plan?.variants.find((variant) => variant.buttons !== undefined) ?? {};
    if (plan === undefined || binding === undefined || buttons === undefined) return [];
    const { title } = plan;
    const { secret, source, derived } = buttons;
    const off = (why: string, isMeant = allow !== undefined) => (isMeant ? [{ target, label, buttons: why }] : []);
    if (binding.variant !== name)
      return off(`an incoming webhook of ${title} cannot have any; set ${oneOf([...needs, secret], 'and')}`, true);
    // A public key may be an option in the table.
    const value = String(binding.options[secret] ?? '');
    const ref = binding.credentials[secret] ?? { kind: 'literal', value, scope: DEFAULT_PROFILE };
    if (ref.kind === 'literal' && ref.value === '')
      return off(`set \`${secret}\`, with which ${title} signs the answers`);
    if (!Object.hasOwn(sources, source))
      return off(`no source \`${source}\` in the catalog verifies the answers`, true);
    if (derived === true && server.public_url === null)
      return off(`set \`public_url\`, the address at which ${title} reaches the gateway`);
    return [{ target, label, buttons: { plan: buttons, ref } }];
  });
}

export function callbackRoutes(scope: RouteScope): Pick<RouteTable, 'callbacks'> {
  const routes = buttonTargets(scope.table).flatMap((one) => callbackRoute(one, scope) ?? []);
  return routes.length === 0 ? {} : { callbacks: Object.fromEntries(routes.map((route) => [route.callback, route])) };
}

/** It never inherits the server's secret, which may be INSECURE_NO_AUTH. */
function callbackRoute({ target: callback, buttons }: ButtonTarget, scope: RouteScope): RoutePlan | null {
  if (typeof buttons === 'string') return null;
  const { source, derived } = buttons.plan;
  const name = `/approvals/${callback}`;
  const view = viewRoute({ name, config: { source, agent: 'none', capture: 'none', prompt: '' } }, scope);
  const { plan } = lowerRoute({ ...view, insecure: false }, { at: { file: '', line: 1 } });
  const secret = { ref: buttons.ref, expires_at: null, ...(derived === undefined ? {} : { derived }) };
  return { ...plan, callback, public_url: null, secrets: [secret] };
}
