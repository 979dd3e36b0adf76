/** An address without which nothing can be delivered (§4.4). */
import type { Problem } from '../diagnostics/problem.ts';
import type { DeliveryConfig } from '../lower/delivery.ts';
import type { TableContent } from '../lower/table-content.ts';
import { meantField } from './support/address-names.ts';
import type { Rule } from './support/rule.ts';
import { deliveryTargets } from './support/targets.ts';

export const missingDeliverExtra: Rule = {
  id: 'missing-deliver-extra',
  severity: 'error',
  title: 'A target needs a key in `deliver_extra` that is not there.',
  why: 'Every delivery would fail: a comment, for instance, needs a repository and a number.',
  checkRoute(route) {
    return route.mode === 'cron' ? [] : missingKeys(route.config, route.scope.table);
  },
  checkJob(job) {
    return missingKeys(job.config, job.scope.table);
  },
};

function missingKeys(config: DeliveryConfig, table: TableContent): readonly Problem[] {
  const path = config.deliver_extra === undefined ? [] : ['deliver_extra'];
  return deliveryTargets(config, table).flatMap(({ name, plan, extra }) =>
    plan.address
      .filter((field) => field.required && !extra.has(field.name))
      .map((field): Problem => {
        const written = Object.keys(config.deliver_extra ?? {}).find((key) => meantField(key, [field.name]) !== null);
        if (written !== undefined) {
          const message = `\`${name}\` needs \`deliver_extra.${field.name}\`: \`${written}\` is another name for it`;
          const fix = { kind: 'rename', text: field.name } as const;
          return { rule: 'missing-deliver-extra', path: ['deliver_extra', written], at: 'key', message, fix };
        }
        const message = `\`${name}\` needs \`deliver_extra.${field.name}\``;
        const hint = 'write it as a template over the payload, or as fixed text';
        return { rule: 'missing-deliver-extra', path, at: 'key', message, hint };
      }),
  );
}
