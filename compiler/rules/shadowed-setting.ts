/** A setting that is overruled beside it (§2.1). */
import type { Rule } from './support/rule.ts';

export const shadowedSetting: Rule = {
  id: 'shadowed-setting',
  severity: 'warning',
  title: 'A key stands under `platforms.webhook` and under `platforms.webhook.extra`.',
  why: 'The one in `extra` wins; the other one has no effect.',
  bad: {
    config: `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    port: 8644
    extra: { port: 9000 }
    routes:
      alerts:
        prompt: "{title}"
`,
  },
  good: {
    config: `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    extra: { port: 9000 }
    routes:
      alerts:
        prompt: "{title}"
`,
  },
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
