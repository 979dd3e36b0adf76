/** A delivery without an output, to a target that needs more than a text. */
import { oneOf } from '../text/suggest.ts';
import type { Receiver } from './support/receivers.ts';
import { deliveryRule } from './support/receivers.ts';
import { deliverPath, deliveryTargets } from './support/targets.ts';

export const outputOnlyTarget = deliveryRule('output-only-target', check);

function check({ config, scope, report }: Receiver): void {
  for (const { name, index, plan, extra } of deliveryTargets(config, scope.table)) {
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
