/** A setting that is overruled beside it (§2.1). */
import type { Rule } from './support/rule.ts';

export const shadowedSetting: Rule = {
  id: 'shadowed-setting',
  severity: 'warning',
  title: 'A key stands under `platforms.webhook` and under `platforms.webhook.extra`.',
  why: 'The one in `extra` wins; the other one has no effect.',
  checkConfig({ settings }) {
    return settings.shadowed.map(({ path, by }) => ({
      rule: this.id,
      path,
      at: 'key',
      message: `\`${String(path.at(-1))}\` has no effect: \`extra\` sets it too, and wins`,
      related: [{ path: by, message: 'this one counts' }],
    }));
  },
};
