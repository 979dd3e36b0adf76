/** An address without which nothing can be delivered (§4.4). */

import type { DeliveryConfig } from '../config/deliveries.ts';
import type { TableContent } from '../config/table-content.ts';
import type { Problem } from '../diagnostics/problem.ts';
import { meantField } from './support/address-names.ts';
import { deliveryTargets } from './support/targets.ts';
import type { ViewRule } from './support/view-rule.ts';

export const missingDeliverExtra = {
  id: 'missing-deliver-extra',
  group: 'names',
  severity: 'error',
  title: 'A target needs a key in `deliver_extra` that is not there.',
  why: 'Every delivery would fail: a comment, for instance, needs a repository and a number.',
  checkRoute(route): readonly Problem[] {
    return route.mode === 'cron' ? [] : missingKeys(route.config, route.scope.table);
  },
  checkJob(job): readonly Problem[] {
    return missingKeys(job.config, job.scope.table);
  },
} as const satisfies ViewRule;

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
          return { rule: missingDeliverExtra, path: ['deliver_extra', written], at: 'key', message, fix };
        }
        const message = `\`${name}\` needs \`deliver_extra.${field.name}\``;
        const hint = 'write it as a template over the payload, or as fixed text';
        return { rule: missingDeliverExtra, path, at: 'key', message, hint };
      }),
  );
}
