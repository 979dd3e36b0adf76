/** The rules about `progress`: whether a target can show it, and whether an event has an object that it marks. */
import { readPlaceholders } from '../../../../compiler/config/grammar.ts';
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

/** No event of the route has an object that its target can mark. */
export const progressObject = rule('progress-object', {
  route(view, report) {
    const { config, mode, scope } = view;
    const [plan] = progressTargets(config, scope.table);
    const { payloads } = scope;
    if (plan?.progress === undefined || payloads === null || mode === 'direct' || mode === 'cron') return;
    const objects = plan.progress.at.map((at) =>
      Object.values(at).flatMap((text) => readPlaceholders(text).map(({ path }) => path)),
    );
    if (objects.some((paths) => payloads.mayHave(view, paths))) return;
    const events = payloads
      .shapedEvents(view)
      .filter((event) => objects.some((paths) => paths.every((path) => payloads.hasPath(view, event, path))));
    const message = `no event of this route has an object that \`${plan.name}\` marks: its progress is never shown`;
    const hint = `events with one: ${oneOf(events, 'and')}`;
    report({ path: ['progress'], at: 'value', message, ...(events.length === 0 ? {} : { hint }) });
  },
});
