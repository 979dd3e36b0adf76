/** A setting that `extra` overrides (§2.1). */

import type { Problem } from '../diagnostics/problem.ts';
import type { ViewRule } from './support/view-rule.ts';

export const shadowedSetting = {
  id: 'shadowed-setting',
  group: 'config',
  severity: 'warning',
  title: 'A key is set both under `platforms.webhook` and under `platforms.webhook.extra`.',
  why: 'The one in `extra` wins; the other one has no effect.',
  checkConfig({ settings }): readonly Problem[] {
    return settings.shadowed.map(({ path, by }) => ({
      rule: shadowedSetting,
      path,
      at: 'key',
      message: `\`${String(path.at(-1))}\` has no effect: \`extra\` also sets it and takes precedence`,
      related: [{ path: by, message: 'this one counts' }],
    }));
  },
} as const satisfies ViewRule;
