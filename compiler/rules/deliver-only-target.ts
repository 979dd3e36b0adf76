/** A direct route without a target (§7). */

import { rule } from './support/rule.ts';
import { deliverPath, KEEPING_TARGETS } from './support/targets.ts';

export const deliverOnlyTarget = rule('deliver-only-target', {
  route(route, report) {
    if (route.config.deliver_only !== true) return;
    const hint = 'name a real target in `deliver`, or remove `deliver_only` to run the agent';
    if (route.config.deliver === undefined) {
      const message = `route \`${route.name}\` is \`deliver_only\` and has no \`deliver\``;
      report({ path: [], at: 'key', message, hint });
      return;
    }
    for (const { name, index, target } of route.targets) {
      if (target === null || !KEEPING_TARGETS.has(target)) continue;
      const message = `\`deliver_only\` cannot deliver to \`${name}\`: no one would receive the message`;
      report({ path: deliverPath(index), at: 'value', message, hint });
    }
  },
});
