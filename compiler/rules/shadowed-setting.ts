/** A setting that `extra` overrides (§2.1). */

import type { Problem } from '../diagnostics/problem.ts';
import type { ViewRule } from './support/view-rule.ts';

export const shadowedSetting = {
  id: 'shadowed-setting',
  checkConfig({ settings }): readonly Problem[] {
    return settings.shadowed.map(({ path, by }) => ({
      rule: 'shadowed-setting',
      path,
      at: 'key',
      message: `\`${String(path.at(-1))}\` has no effect: \`extra\` also sets it and takes precedence`,
      related: [{ path: by, message: 'this one counts' }],
    }));
  },
} as const satisfies ViewRule;
