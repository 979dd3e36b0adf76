/** A setting that `extra` overrides (§2.1). */

import { rule } from './support/rule.ts';

export const shadowedSetting = rule('shadowed-setting', {
  config({ settings }, report) {
    for (const { path, by } of settings.shadowed) {
      const message = `\`${String(path.at(-1))}\` has no effect: \`extra\` also sets it and takes precedence`;
      report({ path, at: 'key', message, related: [{ path: by, message: 'this one counts' }] });
    }
  },
});
