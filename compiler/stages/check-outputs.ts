/** Checks where outputs go, with the rules about deliveries: an output is a delivery whose address stands beside its target. */
import type { OutputConfig } from '../../schemas/generated/types.ts';
import { namedTargets } from '../config/deliveries.ts';
import { deliveryOf, OWN_KEYS, outputPath } from '../config/outputs.ts';
import type { Problem } from '../diagnostics/problem.ts';
import type { RuleId } from '../diagnostics/rule.ts';
import { applyRules } from '../rules/support/rule.ts';
import { certainMatch } from '../text/suggest.ts';
import type { JobView, RouteView } from '../views/views.ts';

const DELIVERY_RULES: ReadonlySet<RuleId> = new Set([
  'unknown-target',
  'target-not-enabled',
  'missing-address',
  'address-form',
  'unknown-deliver-extra',
  'missing-deliver-extra',
  'self-trigger',
]);

/** A key that is no address, and nearly one of the others, would leave the output without its limit. */
function misspelt({ rule, path }: Pick<Problem, 'rule' | 'path'>, output: OutputConfig): Partial<Problem> {
  const key = String(path.at(-1));
  const meant = rule === 'unknown-deliver-extra' ? certainMatch(key, OWN_KEYS) : null;
  if (meant === null) return {};
  const message = `unknown key \`${key}\`; did you mean \`${meant}\`?`;
  const fix = { kind: 'rename', text: meant } as const;
  return { rule: 'unknown-key', message, hint: undefined, ...(Object.hasOwn(output, meant) ? {} : { fix }) };
}

/** Paths of problems are relative to the route or job. */
export function checkOutputs(view: RouteView | JobView): readonly Problem[] {
  const { scope } = view;
  // `on_failure` is checked once, with its route or job.
  const { on_failure: _, ...config } = view.config;
  const rules = scope.rules.filter(({ id }) => DELIVERY_RULES.has(id));
  return Object.entries(view.config.outputs ?? {}).flatMap(([name, output]) => {
    const delivery = deliveryOf(output);
    const targets = namedTargets(delivery.deliver, scope.table.target_names);
    const found =
      'mode' in view
        ? applyRules(rules, 'route', {
            ...view,
            config: { ...config, ...delivery } as RouteView['config'],
            targets,
          })
        : applyRules(rules, 'job', { ...view, config: { ...config, ...delivery } as JobView['config'] });
    // A fix would write into `deliver_extra`.
    return found.map(({ fix, fixAt, message, ...problem }) => ({
      ...problem,
      message: message.replaceAll('deliver_extra.', ''),
      ...misspelt(problem, output),
      path: outputPath(name, problem.path),
    }));
  });
}
