/** The rule about `progress`: whether a target can show it. */
import { progressTargets } from '../../../../compiler/config/route-keys.ts';
import { checkEnabled } from '../../../../compiler/rules/effect.ts';
import { rule } from '../../../../compiler/rules/support/rule.ts';
import { oneOf } from '../../../../compiler/text/suggest.ts';
import type { RouteView } from '../../../../compiler/views/views.ts';
import type { TargetPlan } from '../../../../schemas/generated/types.ts';

/** No target can show the progress of the route. */
export const progressTarget = rule('progress-target', {
  route(route, report) {
    const { config, mode, profilePlan, scope } = route;
    if (config.progress === undefined || mode === 'direct' || mode === 'cron' || profilePlan === null) return;
    const at = { path: ['progress'], at: 'value' } as const;
    const [plan] = progressTargets(config, scope.table);
    if (plan === undefined) return report({ ...at, ...unknownWay(route) });
    const { name } = plan;
    const about = { name, index: null, target: name };
    if (profilePlan.targets[name]?.variant === null && plan.driver !== 'http')
      return report({ ...at, message: `\`${name}\` cannot replace a comment through \`gh\`; set a token or an app` });
    checkEnabled([about], profilePlan, scope, ({ message: _, path: __, ...rest }) => {
      report({ ...rest, ...at, message: `the target \`${name}\`, which shows the progress, is not enabled` });
    });
  },
});

function unknownWay({ config, scope }: RouteView): { readonly message: string; readonly hint: string } {
  const { progress = '', source } = config;
  const plans = Object.values(scope.table.targets).flatMap((plan) => plan.progress ?? []);
  const own = plans.filter((plan) => plan.source === source).map(({ as }) => as);
  const message =
    source === undefined
      ? '`progress` needs a `source`, which says where events come from'
      : `no target shows a \`${progress}\` on objects of the source \`${source}\``;
  const hint = own.length > 0 ? `for this source: ${oneOf(own)}` : `possible: ${listOf(plans)}`;
  return { message, hint };
}

function listOf(plans: readonly NonNullable<TargetPlan['progress']>[]): string {
  const forms = [...new Set(plans.map(({ as }) => as))];
  const sources = (form: string): string =>
    oneOf([...new Set(plans.filter(({ as }) => as === form).map(({ source }) => source))]);
  return forms.map((form) => `\`${form}\` for ${sources(form)}`).join('; ');
}
