/** The rule about `progress`: whether a target can show it. */
import { progressTargets } from '../../../../compiler/config/route-keys.ts';
import { checkEnabled } from '../../../../compiler/rules/effect.ts';
import { rule } from '../../../../compiler/rules/support/rule.ts';
import { oneOf } from '../../../../compiler/text/suggest.ts';

/** No target can show the progress of the route. */
export const progressTarget = rule('progress-target', {
  route({ config, mode, profilePlan, scope }, report) {
    const { progress, source = 'none' } = config;
    if (progress === undefined || mode === 'direct' || mode === 'cron' || profilePlan === null) return;
    const at = { path: ['progress'], at: 'value' } as const;
    const [plan] = progressTargets(config, scope.table);
    if (plan === undefined) {
      const plans = Object.values(scope.table.targets).flatMap((each) => each.progress ?? []);
      const message = `no target shows a \`${progress}\` for events of the source \`${source}\``;
      const ways = plans.map((each) => `${each.as} for ${each.source}`);
      return report({ ...at, message, hint: `possible: ${oneOf(ways)}` });
    }
    const { name } = plan;
    if (plan.driver !== 'http' && profilePlan.targets[name]?.variant === null)
      return report({ ...at, message: `\`${name}\` cannot show progress through \`gh\`: set a token or an app` });
    checkEnabled([{ name, index: null, target: name }], profilePlan, scope, (problem) =>
      report({ ...problem, ...at, message: `\`${name}\`, which shows the progress, is not enabled` }),
    );
  },
});
