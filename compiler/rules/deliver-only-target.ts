/** A direct route without a target (§7). */

import type { Problem } from '../diagnostics/problem.ts';
import { deliverPath, KEEPING_TARGETS } from './support/targets.ts';
import type { ViewRule } from './support/view-rule.ts';
import { atRoute } from './support/view-rule.ts';

export const deliverOnlyTarget = {
  id: 'deliver-only-target',
  checkRoute(route): readonly Problem[] {
    if (route.config.deliver_only !== true) return [];
    const hint = 'name a real target in `deliver`, or remove `deliver_only` to run the agent';
    if (route.config.deliver === undefined) {
      return [
        atRoute('deliver-only-target', `route \`${route.name}\` is \`deliver_only\` and has no \`deliver\``, hint),
      ];
    }
    return route.targets
      .filter(({ target }) => target !== null && KEEPING_TARGETS.has(target))
      .map(({ name, index }) => ({
        rule: 'deliver-only-target',
        path: deliverPath(index),
        at: 'value',
        message: `\`deliver_only\` cannot deliver to \`${name}\`: no one would receive the message`,
        hint,
      }));
  },
} as const satisfies ViewRule;
