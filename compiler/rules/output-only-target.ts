/** A delivery without an output, to a target that needs more than a text. */
import type { DeliveryConfig } from '../config/deliveries.ts';
import type { TableContent } from '../config/table-content.ts';
import { oneOf } from '../text/suggest.ts';
import type { Reporter } from '../views/views.ts';
import { onFailure, toOperators } from './support/receivers.ts';
import { rule } from './support/rule.ts';
import { deliverPath, deliveryTargets } from './support/targets.ts';

export const outputOnlyTarget = rule('output-only-target', {
  route(route, report) {
    for (const to of onFailure(route, report)) check(to.config, to.scope.table, to.report);
    if (route.mode !== 'cron') check(route.config, route.scope.table, report);
  },
  job(job, report) {
    for (const to of onFailure(job, report)) check(to.config, to.scope.table, to.report);
    check(job.config, job.scope.table, report);
  },
  config(view, report) {
    for (const to of toOperators(view, report)) check(to.config, to.scope.table, to.report);
  },
});

function check(config: DeliveryConfig, table: TableContent, report: Reporter): void {
  for (const { name, index, plan, extra } of deliveryTargets(config, table)) {
    const lacking = (plan.content ?? []).filter(
      (field) => field.required && field.name !== 'text' && !extra.has(field.name),
    );
    if (lacking.length === 0) continue;
    const fields = oneOf(
      lacking.map((field) => field.name),
      'and',
    );
    const fixed = lacking.every((field) => plan.address.some((key) => key.name === field.name));
    const message = `\`${name}\` needs ${fields}, which an answer does not have: every delivery to it fails`;
    const hint = `name it in \`outputs\`, where an agent hands ${fields} over${fixed ? `, or set ${fields} in \`deliver_extra\`` : ''}`;
    report({ path: deliverPath(index), at: 'value', message, hint });
  }
}
